# make test        what a change has to pass; CI runs it          minutes
# make test-all    every feature, tool and number; every night    an hour
# make soak        what takes hours: scripts/soak PART for one
# make bench       renews docs/dev/performance.md
# make test PART=check runs one crate's tests and lints; PART=none lists the parts.
.PHONY: test test-all bench soak proof firmware python site packages

test:
	./scripts/test $(PART)

test-all:
	./scripts/test all

soak:
	./scripts/soak

bench:
	HEADWAY_TESTS=large ./scripts/install-tools
	cargo build --release -p headway
	cargo run --release -p headway-bench
	cargo run --profile dist -p headway-bench fleet

firmware:
	./scripts/test firmware

python:
	./scripts/test python

proof:
	$(MAKE) -C proof

site:
	./scripts/site

packages:
	./scripts/artifacts
