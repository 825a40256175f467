# `make test` is what CI runs; `make bench` prints the table of speed and memory; `make soak`
# takes hours.
.PHONY: test bench soak

test:
	./scripts/test

bench:
	./scripts/install-tools
	cargo run --release -p headway-bench

soak:
	./scripts/soak
