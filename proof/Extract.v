(** The functions that the theorems are about, as OCaml, for [oracle/main.ml]; the moving block
    in a file of its own:
    numbers become machine integers, and division rounds down as Coq's does. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZInt.
From Coq Require Import ZArith.
From Headway Require Import Ring Legitimate Bound Forecast.
From Headway Require MovingRing.

Extract Constant Z.modulo =>
  "(fun a b -> if b = 0 then a else let r = a mod b in if r <> 0 && (r < 0) <> (b < 0) then r + b else r)".
Extract Constant Z.div =>
  "(fun a b -> if b = 0 then 0 else let q = a / b in if a mod b <> 0 && (a < 0) <> (b < 0) then q - 1 else q)".

Extraction "oracle/protocol.ml" round legitimate forecast
  total gaps widest_gap worst_last_rest worst_legitimate_at.

Extraction "oracle/moving.ml" MovingRing.placed MovingRing.act MovingRing.position
  MovingRing.hears MovingRing.lets_go MovingRing.tells.
