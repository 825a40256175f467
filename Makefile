# The two commands: `make test` is what CI runs, `make bench` prints the table.
.PHONY: test bench

test:
	./scripts/test

bench:
	cargo run --release -p headway-bench
