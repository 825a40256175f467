"""Asks Storm for the expected rounds to "legitimate" from the initial state of a DTMC."""

import sys

import stormpy

program = stormpy.parse_prism_program(sys.argv[1])
formula = stormpy.parse_properties('R{"rounds"}=? [ F "legitimate" ]', program)[0]
options = stormpy.BuilderOptions()
options.set_build_all_labels()
options.set_build_all_reward_models()
model = stormpy.build_model(program, options=options)
result = stormpy.model_checking(model, formula, only_initial_states=False)
print(model.nr_states, repr(result.get_value_vector()[model.initial_states[0]]))
