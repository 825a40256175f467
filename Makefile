# `make test` is what CI runs; `make bench` prints the table of speed and memory; `make soak`
# takes hours; `make proof` checks the proofs alone.
.PHONY: test bench soak proof

test:
	./scripts/test

bench:
	./scripts/install-tools
	cargo build --release -p headway
	cargo run --release -p headway-bench

soak:
	./scripts/soak

proof:
	$(MAKE) -C proof
