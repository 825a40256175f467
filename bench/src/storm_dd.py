"""Seconds that Storm's decision diagrams take for an answer from every state."""

import sys
import time

import stormpy

program = stormpy.parse_prism_program(sys.argv[1]).substitute_constants().substitute_formulas()
since = time.time()
model = stormpy.build_symbolic_model(program)
formula = stormpy.parse_properties(sys.argv[2], program)[0]
stormpy.model_checking(model, formula, only_initial_states=False)
print(time.time() - since, "seconds")
