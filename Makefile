# hlsgen: set-up, demonstration, tests. A machine needs Python 3.11 or newer, g++ and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= auto

DESIGN ?= designs/conv.yaml
BOARD  ?=
TARGET ?= hw
TORCH  := 2.13.0
TO     ?= xclbin

.PHONY: help demo bitstream test test-all test-networks test-machines check golden site bench bench-networks bench-predict bench-explore bench-auto bench-tasks bench-large bench-clocks bench-peers bench-schedule bench-memory bench-splits fuzz gallery clean
help:
	@echo "make demo    install hlsgen into $(VENV) and build designs/conv.yaml"
	@echo "make bitstream DESIGN=designs/conv.yaml BOARD=u200 [TARGET=hw_emu] [PLATFORM=...] [TO=all]  build it and synthesise"
	@echo "             it to an xclbin with Vitis, whose settings64.sh is sourced before; docs/boards.md"
	@echo "make test    install what the tests need and run them"
	@echo "make test-all  those and the ones that take hours: random draws, every folding, large networks"
	@echo "make test-networks  build and C-simulate the large networks of designs/, every layer against golden"
	@echo "make test-machines  the tests of what frameworks compute, with another processor's floating point"
	@echo "make check   ruff and mypy"
	@echo "make golden  rewrite the expected error messages and emitted-code goldens"
	@echo "make site    run the notebooks and build the documentation into build/site; read it with"
	@echo "             $(BIN)/python -m http.server -d build/site"
	@echo "make bench   benchmarks/conv.py: modelled beside the seed, measured beside PyTorch, naive C++ and hls4ml"
	@echo "make bench-networks  benchmarks/networks.py: the networks of designs/, measured beside hls4ml"
	@echo "make bench-explore  benchmarks/explore.py: the search beside greedy and brute force, and its time"
	@echo "make bench-auto  benchmarks/auto.py: precision auto on unseen frames beside fixed<16,6>"
	@echo "make bench-large  benchmarks/large.py: seconds and memory that large networks take, and how they grow"
	@echo "make bench-tasks  benchmarks/tasks.py: a layer in a network of tasks beside one of its own"
	@echo "make bench-clocks  benchmarks/clocks.py: all designs at 220, 250 and 300 MHz side by side"
	@echo "make bench-peers  benchmarks/peers.py: networks in 8 bits on both boards beside what others measured"
	@echo "make bench-predict   benchmarks/predict.py: the cost model's errors against published results"
	@echo "make bench-memory  benchmarks/rematerialise.py: training under memory budgets beside PyTorch's own checkpoints"
	@echo "make fuzz    benchmarks/fuzz.py: 10,000 random models, each judged by its framework; goes on where it stopped"
	@echo "make gallery [MODELS=FOLDER] [GALLERY=OPTIONS]  benchmarks/gallery.py: ten known networks, the tables of docs/gallery.md"
	@echo "make bench-splits  benchmarks/splits.py: frames or layers over several devices, measured, and a card, modelled"
	@echo "make bench-schedule SOLUTIONS=DIR  benchmarks/schedule.py: II, depth and chains beside those that Vitis HLS reports,"
	@echo "             of every solution in the checkouts of DIR, by its report, its log or the RTL that it emitted"
	@echo "make clean   remove $(VENV) and build/"

demo: $(VENV)/demo.stamp
	$(BIN)/hlsgen build designs/conv.yaml
	@echo && echo "the kernel: build/conv/src/   the report: build/conv/report.md   next: make -C build/conv help"

# words for the shell to take as they are
bitstream: export DESIGN := $(value DESIGN)
bitstream: export BOARD  := $(value BOARD)
bitstream: export TARGET := $(value TARGET)
bitstream: export TO     := $(value TO)
bitstream: $(VENV)/demo.stamp
	$(BIN)/hlsgen synth "$$DESIGN" --to "$$TO" --target "$$TARGET" $${BOARD:+--board "$$BOARD"} $${PLATFORM:+--platform "$$PLATFORM"}

# each process takes neighbours of its own, which share what they compiled: an eighth of the time less
test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

test-networks: $(VENV)/test.stamp
	$(BIN)/python -m pytest -m networks tests/styles/test_designs.py

test-all: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not networks"
	$(MAKE) test-networks

# tests/support/other_processor.py says what is emulated
test-machines: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(JOBS) --processor=other tests/frontends tests/layers tests/styles/test_network.py \
		tests/styles/test_task_network.py tests/hardware/test_weights.py tests/api/test_same_bytes.py

check: $(VENV)/test.stamp
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

golden: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(JOBS) --update-golden tests/designfile/test_error_files.py tests/emit/test_emitted_golden.py \
		tests/emit/test_stage_goldens.py tests/emit/test_network_goldens.py

# a notebook is run again when it has changed; remove build/notebooks to run all
site: $(VENV)/test.stamp
	$(BIN)/python docs/site/notebooks.py build/notebooks
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/test.stamp
	$(BIN)/python benchmarks/conv.py

bench-networks: $(VENV)/test.stamp
	$(BIN)/python benchmarks/networks.py

bench-explore: $(VENV)/test.stamp
	$(BIN)/python benchmarks/explore.py

bench-auto: $(VENV)/test.stamp
	$(BIN)/python benchmarks/auto.py

bench-predict: $(VENV)/test.stamp
	$(BIN)/python benchmarks/predict.py

bench-tasks: $(VENV)/test.stamp
	$(BIN)/python benchmarks/tasks.py

bench-large: $(VENV)/test.stamp
	$(BIN)/python benchmarks/large.py

bench-clocks: $(VENV)/test.stamp
	$(BIN)/python benchmarks/clocks.py

bench-peers: $(VENV)/test.stamp
	$(BIN)/python benchmarks/peers.py --more

bench-memory: $(VENV)/test.stamp
	$(BIN)/python benchmarks/rematerialise.py
	$(BIN)/python benchmarks/pipeline.py

fuzz: $(VENV)/test.stamp
	$(BIN)/python benchmarks/fuzz.py

bench-splits: $(VENV)/test.stamp
	$(BIN)/python benchmarks/splits.py

# words for the shell to take as they are
gallery: export MODELS := $(value MODELS)
gallery: $(VENV)/test.stamp
	$(BIN)/python benchmarks/gallery.py $${MODELS:+--models "$$MODELS"} $(GALLERY)

bench-schedule: $(VENV)/test.stamp
	@test -n "$(SOLUTIONS)" || { echo "name the checkouts: make bench-schedule SOLUTIONS=DIR" >&2; exit 1; }
	$(BIN)/python benchmarks/schedule.py $(SOLUTIONS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "hlsgen needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "no virtual environment could be made; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

# torch first and by its version, which the rest then keeps: that is a small CPU build where one is at hand
$(VENV)/test.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==$(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all]'
	@touch $@ $(VENV)/demo.stamp

clean:
	rm -rf $(VENV) build
