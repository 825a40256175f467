(* Answers questions about rings with the functions extracted from the proof.

   One question a line, words separated by spaces. Of delays and relays:
     separation tokens rounds programs q,r,c q,r,c ...
   where programs is a word of D (delay) and R (relay). One answer a line,
   fields separated by semicolons:
     state after one round; legitimate for that many tokens (0 or 1);
     state after that many rounds, by the closed form;
     worst_last_rest; worst_legitimate_at (of the tokens there are; - for both
     without tokens or delays)

   Of the moving block, from tokens at ascending places that nobody knows of:
     moving processes separation place,place,... action action ...
   where an action is R (receive), T (tell), H (hear) or G (give) and a process. The
   answer: for each action 1, or 0 if the process could not; where tokens were
   received last. Of its rules, with - for an Unknown way ahead:
     rules separation ahead holds news all_received
   The answer: may a token go; what is told; what is believed on hearing the news. *)

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

let numbers word = List.map int_of_string (String.split_on_char ',' word)

let moving n d places actions =
  let places = numbers places in
  let did = Buffer.create 1000 in
  let act ring word =
    let kind =
      match word.[0] with
      | 'R' -> Moving.Receive
      | 'T' -> Moving.Tell
      | 'H' -> Moving.Hear
      | 'G' -> Moving.Give
      | other -> failwith (Printf.sprintf "no action: %c" other)
    in
    let i = int_of_string (String.sub word 1 (String.length word - 1)) in
    match Moving.act n (List.length places) d ring kind i with
    | Some ring -> Buffer.add_char did '1'; ring
    | None -> Buffer.add_char did '0'; ring
  in
  let ring = List.fold_left act (Moving.placed n places) actions in
  let position t = string_of_int (Moving.position t) in
  Printf.printf "%s;%s\n" (Buffer.contents did)
    (String.concat "," (List.map position ring.Moving.tokens))

let rules d ahead holds news all_received =
  let ahead = if ahead = "-" then None else Some (int_of_string ahead) in
  let believed =
    match Moving.hears (int_of_string news) (all_received = "1") with
    | Some hops -> string_of_int hops
    | None -> "-"
  in
  Printf.printf "%d;%d;%s\n"
    (Bool.to_int (Moving.lets_go d ahead))
    (Moving.tells d ahead (holds = "1"))
    believed

let answer line =
  match String.split_on_char ' ' line with
  | "moving" :: n :: d :: places :: actions ->
      moving (int_of_string n) (int_of_string d) places actions
  | [ "rules"; d; ahead; holds; news; all ] -> rules (int_of_string d) ahead holds news all
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
