(* Answers questions about rings with the functions extracted from the proof.

   One question a line, words separated by spaces:
     separation tokens rounds programs q,r,c q,r,c ...
   where programs is a word of D (delay) and R (relay). One answer a line,
   fields separated by semicolons:
     state after one round; legitimate for that many tokens (0 or 1);
     state after that many rounds, by the closed form;
     worst_last_rest; worst_legitimate_at (of the tokens there are; - for both
     without tokens or delays) *)

open Protocol

let program = function
  | 'D' -> Delay
  | 'R' -> Relay
  | other -> failwith (Printf.sprintf "no program: %c" other)

let process word =
  match List.map int_of_string (String.split_on_char ',' word) with
  | [ queued; resting; counter ] -> { queued; resting; counter }
  | _ -> failwith ("no process: " ^ word)

let print_state processes =
  let one p = Printf.sprintf "%d,%d,%d" p.queued p.resting p.counter in
  String.concat " " (List.map one processes)

let answer line =
  match String.split_on_char ' ' line with
  | separation :: tokens :: rounds :: programs :: words ->
      let d = int_of_string separation and rounds = int_of_string rounds in
      let programs = List.map program (List.of_seq (String.to_seq programs)) in
      let start = List.map process words in
      let m = total start and gaps = gaps programs in
      let worst =
        if m = 0 || gaps = [] then "-;-"
        else
          Printf.sprintf "%d;%d"
            (worst_last_rest m d (widest_gap programs))
            (worst_legitimate_at m d gaps)
      in
      Printf.printf "%s;%d;%s;%s\n"
        (print_state (round d programs start))
        (Bool.to_int (legitimate d programs start (int_of_string tokens)))
        (print_state (forecast d programs start rounds))
        worst
  | _ -> failwith ("no question: " ^ line)

let () =
  try
    while true do
      answer (input_line stdin)
    done
  with End_of_file -> ()
