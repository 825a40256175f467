"""Asks Storm about a PRISM model exported by Headway; prints one JSON object."""

import json
import sys

import stormpy

program = stormpy.parse_prism_program(sys.argv[1])
options = stormpy.BuilderOptions()
options.set_build_all_labels()
options.set_build_all_reward_models()
model = stormpy.build_model(program, options=options)

def ask(question):
    formula = stormpy.parse_properties(question, program)[0]
    return stormpy.model_checking(model, formula, only_initial_states=False)



def whole(number):
    """An average to four places, a whole number as such."""
    nearest = round(number)
    return nearest if abs(number - nearest) < 1e-5 else round(number, 4)


legitimate = model.labeling.get_states("legitimate")
stays = ask('P>=1 [ X "legitimate" ]').get_truth_values_vector()
gets_there = ask('P>=1 [ F "legitimate" ]').get_truth_values_vector()
# The longest way: infinite where some run never gets there.
longest = max(ask('R{"steps"}max=? [ F "legitimate" ]').get_value_vector())
print(
    json.dumps(
        {
            "states": model.nr_states,
            "legitimate": legitimate.get_number_of_set_bits(),
            "closure": all(stays[state] for state in legitimate),
            "convergence": all(gets_there[state] for state in range(model.nr_states)),
            "worst": None if longest == float("inf") else whole(longest),
        }
    )
)
