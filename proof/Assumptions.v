(** Every theorem rests on nothing but Coq itself: [make] fails unless each line
    below prints "Closed under the global context". *)

From Headway Require Import Ring ReleaseTimes Unroll Closure Theorems Attained Forecast FirstRounds Cycle SelfStabilization Claims MovingBlock Stations Paper.
From Headway Require MovingRing.
Print Assumptions delay_is_figure3.
Print Assumptions relay_is_figure3.
Print Assumptions tokens_conserved.
Print Assumptions tokens_conserved_for_ever.
Print Assumptions dater.
Print Assumptions release_times.
Print Assumptions release_times_at_delay.
Print Assumptions legitimate_lifted.
Print Assumptions closure.
Print Assumptions every_token_moves.
Print Assumptions theorem1_bound.
Print Assumptions theorem1_attained.
Print Assumptions theorem2.
Print Assumptions theorem2_start.
Print Assumptions theorem2_attained.
Print Assumptions theorem2_start_attained.
Print Assumptions theorem2_full.
Print Assumptions theorem3_bound.
Print Assumptions theorem3_attained.
Print Assumptions convergence.
Print Assumptions jam.
Print Assumptions separation_of_circulating_tokens.
Print Assumptions room_is_needed.
Print Assumptions visits_equal.
Print Assumptions circulation.
Print Assumptions jam_repeats.
Print Assumptions release_round_right.
Print Assumptions forecast_is_run.
Print Assumptions claim2.
Print Assumptions claim3.
Print Assumptions claim4.
Print Assumptions sigma_comes.
Print Assumptions arrivals_apart.
Print Assumptions claim5.
Print Assumptions claim6.
Print Assumptions claim7.
Print Assumptions resting_bound_bounds.
Print Assumptions claim8.
Print Assumptions claim5_as_printed.
Print Assumptions claim6_as_printed.
Print Assumptions SharedMemory.shared_memory_safe.
Print Assumptions SharedMemory.some_token_may_move.
Print Assumptions SharedMemory.distance_step.
Print Assumptions Stations.distance_step.
Print Assumptions Stations.messages_safe.
Print Assumptions Stations.works_apart.
Print Assumptions Stations.moving_block_safe.
Print Assumptions MovingRing.act_refines.
Print Assumptions MovingRing.ring_is_safe.
