"""Asks Storm for the expected rounds to "legitimate" from the initial state of a DTMC."""

import sys

import stormpy

program = stormpy.parse_prism_program(sys.argv[1])
formula = stormpy.parse_properties('R{"rounds"}=? [ F "legitimate" ]', program)[0]
options = stormpy.BuilderOptions([formula.raw_formula])
model = stormpy.build_sparse_model_with_options(program, options)
environment = stormpy.Environment()
environment.solver_environment.set_force_sound()
result = stormpy.model_checking(model, formula, environment=environment)
print(model.nr_states, repr(result.at(model.initial_states[0])))
