# `make test` is what CI runs; `make bench` renews docs/performance.md; `make soak`
# takes hours; `make proof` checks the proofs alone; `make firmware` runs rings of boards;
# `make python` builds the Python package and runs its tests; `make site` makes a website of
# the documents; `make packages` makes what a release gives to others, .deb and .rpm too.
.PHONY: test bench soak proof firmware python site packages

test:
	./scripts/test

bench:
	./scripts/install-tools
	cargo build --release -p headway
	cargo run --release -p headway-bench
	cargo run --profile dist -p headway-bench --features keepers fleet

firmware:
	./scripts/install-tools
	cargo run --profile quick -p headway-boards

python:
	./scripts/python install
	./scripts/python

packages:
	./scripts/artifacts

site:
	./scripts/site

soak:
	./scripts/soak

proof:
	$(MAKE) -C proof
