# SPDX-License-Identifier: Apache-2.0
#
# The build of cuvet: one file, no recursion into folders. `make help` lists the targets.
#
# Two profiles live side by side, so that neither rebuilds the other:
#   release   build/{obj,libcuvet.a,cuvet,unit}        what is shipped
#   asan      build/asan/{obj,libcuvet.a,cuvet,unit}   AddressSanitizer + UBSan, no recovery
# Shared by both: build/gen (generated sources), build/man, build/standin (stand-ins for the
# driver's libraries), build/asan/fuzz (fuzz targets that replay their corpus).
#
# Variables for the user: CC, CFLAGS, CPPFLAGS, LDFLAGS, LDLIBS (they come last and win), PREFIX,
# DESTDIR, V=1 (show commands), WERROR=1 (warnings are errors), T=PATTERN (test what matches),
# ARGS="..." (arguments of `make run`), FUZZ_SECONDS=N (for each target of `make fuzz`), NVCC=FILE
# (whose machine code is embedded; empty: none).

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
comma := ,
MAKEFLAGS += --no-builtin-rules
export LC_ALL := C

VERSION := $(shell cat VERSION)
CFLAGS ?= -O2 -g
AR ?= ar
OBJCOPY ?= objcopy
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/cuvet
FUZZ_SECONDS ?= 30
ARGS ?= check

ifeq ($(V),1)
Q :=
QUIET = @:
else
Q := @
# Nothing at all with -s, which the scripts use.
QUIET = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),@:,@printf '  %-8s %s\n')
endif

# ---------------------------------------------------------------------------------------------
# Compiler flags. No flag is assumed: each one outside the base set is asked for with cc-option.

cc-option = $(shell $(CC) -Werror $(1) -c -x c /dev/null -o /dev/null >/dev/null 2>&1 && echo '$(1)')
ld-option = $(shell echo 'int main(void){return 0;}' | \
	$(CC) -Werror $(1) -x c - -o /dev/null >/dev/null 2>&1 && echo '$(1)')

# Goals that need no compiler do not pay for asking it.
NO_CC_GOALS := help clean run test bench deps format uninstall uninstall-lib update-golden fuzz lint \
	check dist portable release
ifneq ($(if $(MAKECMDGOALS),$(filter-out $(NO_CC_GOALS),$(MAKECMDGOALS)),all),)

# Compilers whose warnings are known; with others a new warning must not break `make test`.
CC_KNOWN := $(shell $(CC) -dM -E -x c /dev/null 2>/dev/null | awk ' \
	$$2 == "__clang_major__" { c = $$3 } $$2 == "__GNUC__" { g = $$3 } \
	END { if (c ? c >= 12 && c <= 20 : g >= 9 && g <= 15) print "yes" }')

WARNINGS := -Wall -Wextra $(foreach w,-Wshadow -Wundef -Wvla -Wformat=2 -Wstrict-prototypes \
	-Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wwrite-strings -Wcast-qual \
	-Wnull-dereference -Wimplicit-fallthrough -Wconversion -Wno-sign-conversion \
	-Wno-missing-field-initializers,$(call cc-option,$(w)))

HARDENING := $(foreach f,-fstack-protector-strong -fstack-clash-protection -fcf-protection \
	-ftrivial-auto-var-init=zero -fstrict-flex-arrays=3,$(call cc-option,$(f)))
# Fortified calls need optimisation, and a packager may bring a level of his own.
ifneq ($(filter -O1 -O2 -O3 -Os -Oz,$(CFLAGS)),)
ifeq ($(findstring _FORTIFY_SOURCE,$(CFLAGS) $(CPPFLAGS)),)
FORTIFY := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
endif
endif
HARDENING_LD := -pie $(foreach f,-static-libgcc -Wl$(comma)-z$(comma)relro -Wl$(comma)-z$(comma)now \
	-Wl$(comma)-z$(comma)noexecstack -Wl$(comma)--as-needed -Wl$(comma)-O1,$(call ld-option,$(f)))
NO_MAYBE := $(call cc-option,-Wno-maybe-uninitialized)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# One line a library: the archive when the linker has one, so that the binary travels, else the
# shared object. Never add libcurl here: a DT_NEEDED libcurl costs every start some 10 ms, and
# start-up has to be instant; what needs the network is to be loaded when it is asked for
# (scripts/check-needed.sh holds the list of what the program may need at start).
LIBRARIES := cjson pcre2-8 yaml

lib = $(if $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a 2>/dev/null)),-l:lib$(1).a,-l$(1))
LIBS := $(foreach l,$(LIBRARIES),$(call lib,$(l))) -ldl -lm
endif

# One set of objects serves the program and the library, hence -fPIC. In the library a lack of
# memory unwinds the stack to the call (src/api/guard.c): -fexceptions lets what a scope owns be
# closed on the way.
BASE_FLAGS = -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DCUVET_VERSION='"$(VERSION)"' \
	-Iinclude -Isrc -Ibuild/gen -fPIC -fexceptions -fno-common -fno-strict-aliasing -fvisibility=hidden $(WARNINGS)
CFLAGS_release = $(BASE_FLAGS) $(HARDENING) $(FORTIFY) $(if $(WERROR),-Werror) $(CPPFLAGS) $(CFLAGS)
# The sanitizers' own code misleads two of the warnings; the release build keeps them.
CFLAGS_asan = $(BASE_FLAGS) -Wno-null-dereference $(NO_MAYBE) $(SANITIZE) \
	$(if $(WERROR)$(CC_KNOWN),-Werror) $(CPPFLAGS) -O1 -g

LDFLAGS_release = $(HARDENING_LD) $(LDFLAGS)
LDFLAGS_asan = -pie $(SANITIZE) $(LDFLAGS)
# cmocka's macros cast as they like.
TEST_FLAGS = -Itests -Itests/unit -Wno-conversion -Wno-missing-prototypes -Wno-cast-qual \
	-Wno-null-dereference

BUILD_release := build
BUILD_asan := build/asan

# ---------------------------------------------------------------------------------------------
# Sources are found, not listed: a new file is built by being there.

SOURCES := $(sort $(wildcard src/*/*.c src/*/*/*.c))
UNIT_SOURCES := $(sort $(wildcard tests/unit/test_*.c))
UNIT_HELPERS := $(filter-out $(UNIT_SOURCES),$(sort $(wildcard tests/unit/*.c)))
UNITS := $(UNIT_SOURCES:tests/unit/%.c=%)
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
STANDINS := $(patsubst tests/standin/%.c,build/standin/%.so,$(sort $(wildcard tests/standin/*.c)))
MAN_SOURCES := $(sort $(wildcard docs/man/*.scd))
GEN_DOCS := $(wildcard scripts/gen-cli-docs.sh)
# data/compat/schema holds the schemas, which only the tests read.
TABLES := $(filter-out data/compat/schema/%,$(sort $(wildcard data/compat/*.json \
	data/compat/*/*.json)))
# What is embedded beside the tables: their schemas, for `show --check` and for data that is to be
# installed, and the public key that such data has to be signed with.
BESIDE := $(sort $(wildcard data/compat/schema/*.json data/keys/*.pub))
# Catalogues of messages, one a line of po/LINGUAS; without msgfmt cuvet speaks English alone.
MSGFMT := $(shell command -v msgfmt 2>/dev/null)
LANGUAGES := $(if $(MSGFMT),$(shell sed -e 's/#.*//' po/LINGUAS))
GENERATED := build/gen/compat_table.c build/gen/catalogue.c build/gen/sass.c
OBJECTS := $(SOURCES:src/%.c=%.o) gen/compat_data.o $(GENERATED:build/%.c=%.o)

# With nvcc, machine code for all its targets is embedded beside the PTX; NVCC= keeps it out.
NVCC ?= $(firstword $(wildcard $(shell command -v nvcc) /usr/local/cuda/bin/nvcc))

all: build/cuvet docs
.PHONY: all

# ---------------------------------------------------------------------------------------------
# Embedded tables. Every data/compat/**/*.json becomes a row of embedded_table[], sorted by name
# (bytewise); the name is the path below data/compat without ".json" ("gpu", "framework/torch").
#   build/gen/compat_data.h    struct embedded_table, the table's declaration, its length
#   build/gen/compat_table.c   the rows
#   build/gen/compat_data.S    the bytes by .incbin, one pair of symbols a file: embedded_<n>_start
#                              and embedded_<n>_end; a zero byte that is not counted follows each
# Schemas and keys become rows of embedded_file[] in the same way ("schema/gpu.schema",
# "data/keys/cuvet-data.pub").
# Only make, sh, sed and awk take part. A new or removed file changes build/gen/tables.list and
# with it all three; changed contents only assemble anew.

GEN_HEADERS := build/gen/compat_data.h

build/gen/tables.list: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(TABLES) $(BESIDE) | sed -e '/^$$/d' >$@.new
	@cmp -s $@.new $@ && rm -f $@.new || mv -f $@.new $@

build/gen/compat_data.h: Makefile
	@mkdir -p $(@D)
	$(QUIET) GEN $@
	$(Q)printf '%s\n' \
		'/* Generated by the Makefile: the tables of data/compat, embedded. Do not edit. */' \
		'#ifndef CUVET_COMPAT_DATA_H' '#define CUVET_COMPAT_DATA_H' '' \
		'#include <stddef.h>' '' \
		'/* One file: its name below data/compat without ".json", and its bytes [start, end). */' \
		'struct embedded_table {' '	const char *name;' '	const unsigned char *start;' \
		'	const unsigned char *end;' '};' '' \
		'/* Sorted by name (strcmp order); embedded_table_count rows. */' \
		'extern const struct embedded_table embedded_table[];' \
		'extern const size_t embedded_table_count;' \
		'/* Schemas and public keys, likewise. */' \
		'extern const struct embedded_table embedded_file[];' \
		'extern const size_t embedded_file_count;' '' '#endif' >$@

build/gen/compat_table.c: build/gen/tables.list Makefile
	$(QUIET) GEN $@
	$(Q)sed -e 's,^data/compat/,,' -e 's,\.json$$,,' $< | sort | awk ' \
		BEGIN { print "/* Generated by the Makefile. Do not edit. */"; \
			print "#include \"compat_data.h\"\n" } \
		{ name[++n] = $$0; id = $$0; gsub(/[^A-Za-z0-9]/, "_", id); sym[n] = "embedded_" id; \
			print "extern const unsigned char " sym[n] "_start[], " sym[n] "_end[];" } \
		function rows(array, beside,   i, k) { \
			print "\nconst struct embedded_table " array "[] = {"; \
			for (i = 1; i <= n; i++) { \
				if ((name[i] ~ /^(schema|data\/keys)\//) != beside) \
					continue; \
				k++; \
				printf "\t{ .name = \"%s\", .start = %s_start, .end = %s_end },\n", \
					name[i], sym[i], sym[i]; \
			} \
			print "};\nconst size_t " array "_count = " (k + 0) ";" } \
		END { rows("embedded_table", 0); rows("embedded_file", 1) }' >$@

build/gen/.nvcc: FORCE
	$(call stamp,$(NVCC))
build/gen/sass.c: $(wildcard kernels/*.ptx) kernels/modules.list scripts/build-sass.sh build/gen/.nvcc
	$(QUIET) GEN $@
	$(Q)sh scripts/build-sass.sh $@ build/gen/sass $(NVCC)

build/gen/compat_data.S: build/gen/tables.list Makefile
	$(QUIET) GEN $@
	$(Q)awk 'BEGIN { print "/* Generated by the Makefile. Do not edit. */\n\t.section .rodata" } \
		{ id = $$0; sub(/^data\/compat\//, "", id); sub(/\.json$$/, "", id); \
			gsub(/[^A-Za-z0-9]/, "_", id); s = "embedded_" id; \
			print "\t.balign 16\n\t.globl " s "_start, " s "_end"; \
			print "\t.hidden " s "_start, " s "_end"; \
			print s "_start:\n\t.incbin \"" $$0 "\"\n" s "_end:\n\t.byte 0" } \
		END { print "\t.section .note.GNU-stack,\"\",%progbits" }' $< >$@

# Embedded catalogues (src/base/lang.h), as msgfmt makes them, with a key in the place of each English
# message. One that isn't certain ("fuzzy") is left out, so that its English is shown; a wrong printf
# directive is an error.
build/gen/%.mo: po/%.po scripts/key-catalogue.awk
	@mkdir -p $(@D)
	$(QUIET) MSGFMT $@
	$(Q)$(MSGFMT) --check-format -o /dev/null $<
	$(Q)msgattrib --translated --no-fuzzy --no-obsolete --no-wrap -o build/gen/$*.po $<
	$(Q)LC_ALL=C awk -f scripts/key-catalogue.awk build/gen/$*.po >build/gen/$*.keyed.po
	$(Q)$(MSGFMT) --no-hash --endianness=little -o $@ build/gen/$*.keyed.po

build/gen/catalogue.c: Makefile po/LINGUAS
	@mkdir -p $(@D)
	$(QUIET) GEN $@
	$(Q)set -e; { echo '/* Generated by the Makefile. Do not edit. */'; \
		echo '#include "base/lang.h"'; for l in $(LANGUAGES); do \
			echo "__asm__(\".pushsection .rodata; .balign 16; \""; \
			echo "	\"catalogue_$${l}_start: .incbin \\\"build/gen/$$l.mo\\\"; \""; \
			echo "	\"catalogue_$${l}_end: .byte 0; .popsection\");"; \
			echo "extern const unsigned char catalogue_$${l}_start[], catalogue_$${l}_end[];"; \
		done; \
		echo 'const struct lang_catalogue lang_catalogues[] = {'; for l in $(LANGUAGES); do \
			echo "	{ \"$$l\", catalogue_$${l}_start, catalogue_$${l}_end },"; done; \
		echo '	{ 0, 0, 0 } };'; \
		echo 'const size_t lang_catalogue_count = sizeof(lang_catalogues) / sizeof(lang_catalogues[0]) - 1;'; \
	} >$@

# ---------------------------------------------------------------------------------------------
# Rules of a profile: $(1) its name, $(2) its folder.

# A stamp whose contents are the flags: what depends on it is rebuilt when they change.
define stamp
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(1))' >$@.new
	@cmp -s $@.new $@ && rm -f $@.new || mv -f $@.new $@
endef

define profile
$(2)/.cflags: FORCE
	$$(call stamp,$(CC) $$(CFLAGS_$(1)))
$(2)/.ldflags: FORCE
	$$(call stamp,$(CC) $$(LDFLAGS_$(1)) $$(LIBS) $$(LDLIBS))
$(2)/.objects: FORCE
	$$(call stamp,$$(OBJECTS) $$(UNIT_HELPERS))

$(2)/obj/%.o: src/%.c $(2)/.cflags | $(GEN_HEADERS)
	@mkdir -p $$(@D)
	$$(QUIET) CC $$@
	$$(Q)$$(CC) $$(CFLAGS_$(1)) -MMD -MP -c $$< -o $$@
$(2)/obj/gen/%.o: build/gen/%.c $(2)/.cflags | $(GEN_HEADERS)
	@mkdir -p $$(@D)
	$$(QUIET) CC $$@
	$$(Q)$$(CC) $$(CFLAGS_$(1)) -MMD -MP -c $$< -o $$@
$(2)/obj/gen/catalogue.o: $(LANGUAGES:%=build/gen/%.mo)
$(2)/obj/gen/compat_data.o: build/gen/compat_data.S $(TABLES) $(BESIDE) $(2)/.cflags
	@mkdir -p $$(@D)
	$$(QUIET) AS $$@
	$$(Q)$$(CC) -c $$< -o $$@

# What its source embeds.
$(2)/obj/prove/ptx.o: $(wildcard kernels/*.ptx)
$(2)/obj/prove/exec.o: kernels/exec.py

$(2)/libcuvet.a: $(addprefix $(2)/obj/,$(OBJECTS)) $(2)/.objects
	$$(QUIET) AR $$@
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $(addprefix $(2)/obj/,$(OBJECTS))
$(2)/cuvet: $(2)/obj/main.o $(2)/libcuvet.a $(2)/.ldflags
	$$(QUIET) LD $$@
	$$(Q)$$(CC) $$(CFLAGS_$(1)) $$(LDFLAGS_$(1)) -o $$@ $$< $(2)/libcuvet.a $$(LIBS) $$(LDLIBS)

# What tests share: every tests/unit/*.c that is not a test itself.
$(2)/unit/help/%.o: tests/unit/%.c $(2)/.cflags | $(GEN_HEADERS)
	@mkdir -p $$(@D)
	$$(QUIET) CC $$@
	$$(Q)$$(CC) $$(CFLAGS_$(1)) $$(TEST_FLAGS) -MMD -MP -c $$< -o $$@
$(2)/unit/libhelp.a: $(UNIT_HELPERS:tests/unit/%.c=$(2)/unit/help/%.o) $(2)/.objects
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $(UNIT_HELPERS:tests/unit/%.c=$(2)/unit/help/%.o)

# A unit test is a program; TEST_LDFLAGS_<name> adds link flags for one (for example --wrap).
$(2)/unit/test_%: tests/unit/test_%.c $(2)/unit/libhelp.a $(2)/libcuvet.a $(2)/.ldflags
	@mkdir -p $$(@D)
	$$(QUIET) TESTCC $$@
	$$(Q)$$(CC) $$(CFLAGS_$(1)) $$(TEST_FLAGS) -MMD -MP -MF $$@.d $$(LDFLAGS_$(1)) -o $$@ $$< \
		$$(TEST_LDFLAGS_test_$$*) $(2)/unit/libhelp.a $(2)/libcuvet.a $$(LIBS) -lcmocka $$(LDLIBS)

-include $(addprefix $(2)/obj/,$(OBJECTS:.o=.d)) $(2)/obj/main.d
-include $(addsuffix .d,$(addprefix $(2)/unit/,$(UNITS)))
-include $(UNIT_HELPERS:tests/unit/%.c=$(2)/unit/help/%.d)
endef
$(eval $(call profile,release,$(BUILD_release)))
$(eval $(call profile,asan,$(BUILD_asan)))

unit: $(addprefix build/unit/,$(UNITS))
asan: build/asan/cuvet
unit-asan: $(addprefix build/asan/unit/,$(UNITS))
.PHONY: unit asan unit-asan

# ---------------------------------------------------------------------------------------------
# libcuvet: what include/cuvet.h reaches, from the objects of the program. Shared, with nothing else
# exported (src/api/libcuvet.map), and as one object in an archive, all other names made local, so
# that a program that links it has no name taken away. scripts/check-abi.sh holds the interface.
LIB_NAME := libcuvet.so
LIB_SONAME := $(LIB_NAME).0
LIB_FILE := $(LIB_NAME).$(VERSION)
LIB_API := $(patsubst src/%.c,build/obj/%.o,$(wildcard src/api/*.c))

lib: build/lib/$(LIB_FILE) build/lib/libcuvet.a build/lib/libcuvet.pc
build/lib/$(LIB_FILE): build/libcuvet.a src/api/libcuvet.map build/.ldflags
	@mkdir -p $(@D)
	$(QUIET) LD $@
	$(Q)$(CC) $(CFLAGS_release) $(filter-out -pie -static-libgcc,$(LDFLAGS_release)) -shared \
		-Wl,-soname,$(LIB_SONAME) -Wl,--version-script=src/api/libcuvet.map -Wl,-z,defs \
		-o $@ $(LIB_API) build/libcuvet.a $(LIBRARIES:%=-l%) -ldl -lm
	$(Q)ln -sf $(LIB_FILE) $(@D)/$(LIB_SONAME) && ln -sf $(LIB_SONAME) $(@D)/$(LIB_NAME)
build/lib/libcuvet.a: build/libcuvet.a src/api/libcuvet.map
	@mkdir -p $(@D)
	$(QUIET) AR $@
	$(Q)$(CC) -r -nostdlib -o build/lib/libcuvet.o $(LIB_API) build/libcuvet.a
	$(Q)sed -n 's/^\t\(cuvet_[a-z_]*\);/\1/p' src/api/libcuvet.map >build/lib/names
	$(Q)$(OBJCOPY) --keep-global-symbols=build/lib/names build/lib/libcuvet.o
	$(Q)rm -f $@ && $(AR) rcs $@ build/lib/libcuvet.o && rm -f build/lib/libcuvet.o build/lib/names
build/lib/libcuvet.pc: FORCE
	@mkdir -p $(@D)
	$(Q)printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$(INCLUDEDIR)' '' \
		'Name: libcuvet' 'Description: will a GPU deep-learning stack run here' \
		'Version: $(VERSION)' 'Requires.private: libcjson libpcre2-8 yaml-0.1' \
		'Libs: -L$${libdir} -lcuvet' 'Libs.private: -ldl -lm' \
		'Cflags: -I$${includedir}' >$@
.PHONY: lib

# Fuzz targets, first as programs that replay tests/fuzz/corpus/<name>/ under the sanitizers ...
build/asan/fuzz/%: tests/fuzz/%.c tests/fuzz/replay.c build/asan/libcuvet.a build/asan/.ldflags
	@mkdir -p $(@D)
	$(QUIET) FUZZCC $@
	$(Q)$(CC) $(CFLAGS_asan) $(TEST_FLAGS) -MMD -MP -MF $@.d $(LDFLAGS_asan) -o $@ $< \
		tests/fuzz/replay.c build/asan/libcuvet.a $(LIBS) $(LDLIBS)
-include $(patsubst %,build/asan/fuzz/%.d,$(FUZZERS))
fuzz-replay: $(addprefix build/asan/fuzz/,$(FUZZERS))
.PHONY: fuzz-replay

# ... then with clang's engine, everything in one compilation, for FUZZ_SECONDS each. What it
# finds and the inputs it makes stay below build/fuzz.
CLANG ?= clang
build/fuzz/%: tests/fuzz/%.c $(SOURCES) $(GENERATED) build/gen/compat_data.S $(GEN_HEADERS) \
		$(LANGUAGES:%=build/gen/%.mo)
	@mkdir -p $(@D)
	$(QUIET) FUZZCC $@
	$(Q)$(CLANG) -std=gnu17 -D_GNU_SOURCE -DCUVET_VERSION='"$(VERSION)"' -Iinclude -Isrc -Ibuild/gen -Itests \
		-O1 -g -w -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $< \
		$(SOURCES) $(GENERATED) build/gen/compat_data.S $(LIBRARIES:%=-l%) -ldl
fuzz-build: $(addprefix build/fuzz/,$(FUZZERS))
fuzz:
	$(Q)sh packaging/deps.sh fuzz
	$(Q)$(MAKE) --no-print-directory fuzz-build
	$(Q)set -e; for f in $(FUZZERS); do \
		mkdir -p build/fuzz/new/$${f#fuzz_} tests/fuzz/corpus/$${f#fuzz_}; \
		echo "== $$f, $(FUZZ_SECONDS) s"; \
		./build/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=5 -rss_limit_mb=1024 \
			-verbosity=0 -print_final_stats=1 -artifact_prefix=build/fuzz/ \
			build/fuzz/new/$${f#fuzz_} tests/fuzz/corpus/$${f#fuzz_}; done
.PHONY: fuzz fuzz-build

# Stand-ins for libcuda.so.1 and libnvidia-ml.so.1: tests/standin/NAME.c to build/standin/NAME.so.
# The soname is the real one where NAME begins with libcuda or libnvidia-ml; a test links or
# copies the file under that name into a folder of its own.
build/standin/%.so: tests/standin/%.c Makefile
	@mkdir -p $(@D)
	$(QUIET) SO $@
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -Isrc -Itests -O1 -g -Wall -Wextra -fPIC -shared \
		$(if $(filter libcuda%,$*),-Wl$(comma)-soname$(comma)libcuda.so.1) \
		$(if $(filter libnvidia-ml%,$*),-Wl$(comma)-soname$(comma)libnvidia-ml.so.1) \
		-MMD -MP -MF $(@:.so=.d) -o $@ $< -lm \
		$(if $(filter libcuda-flip,$*),-Wl$(comma)--no-as-needed build/standin/needed/libcuda-real.so)
build/standin/libcuda-flip.so: build/standin/needed/libcuda-real.so
# What it does not have itself is found in the real one, under this name.
build/standin/needed/libcuda-real.so: Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -o $@ -x c /dev/null
-include $(STANDINS:.so=.d)
standin: $(STANDINS)
.PHONY: standin

# ---------------------------------------------------------------------------------------------
# Documents and what the translators get.

# Completions and manual pages come from the program's own tables (scripts/gen-cli-docs.sh); what is
# written by hand lies in docs/man. Without scdoc there are no manual pages, and nothing else is
# missing.
SCDOC := $(shell command -v scdoc 2>/dev/null)
docs: build/man/.made
build/man/.made: $(MAN_SOURCES) $(if $(GEN_DOCS),build/cuvet $(GEN_DOCS)) Makefile
	$(QUIET) DOCS build/man
	$(Q)rm -rf build/man build/gen/man && mkdir -p build/man build/gen/man
	$(Q)$(if $(GEN_DOCS),sh $(GEN_DOCS) ./build/cuvet build/gen)
	$(Q)$(if $(SCDOC),set -e; for f in build/gen/man/*.scd $(MAN_SOURCES); do \
		if [ -e "$$f" ]; then p=$${f##*/}; $(SCDOC) <"$$f" >build/man/$${p%.scd}; fi; done)
	@touch $@
.PHONY: docs

# Texts of tables that go into messages: TABLE:KEY,KEY; the code shows them through _().
TRANSLATED := known_bad:effect,when,fix vram:case xid:meaning
build/gen/table_text.h: FORCE
	@mkdir -p $(@D)
	$(Q)set -e; { echo '/* Generated by the Makefile for xgettext. Do not edit. */'; \
		for t in $(TRANSLATED); do \
			grep -oE "\"($$(echo $${t#*:} | tr , '|'))\": ?\"([^\"\\]|\\.)*\"" \
				data/compat/$${t%%:*}.json | sed -e 's/^"[a-z]*": *\(.*\)$$/N_(\1)/'; \
		done | sort -u; } >$@

# po/README.md says how a language is added.
pot: build/gen/cuvet.pot
build/gen/cuvet.pot: build/gen/table_text.h FORCE
	@mkdir -p $(@D)
	$(QUIET) XGETTEXT $@
	$(Q)xgettext --language=C --from-code=UTF-8 --keyword=_ --keyword=N_ --keyword=lang_plural:1,2 --add-comments=i18n: \
		--package-name=cuvet --package-version=$(VERSION) --sort-by-file -o $@ \
		$(sort $(wildcard src/*/*.c src/*/*.h src/*/*.def src/main.c)) $<
.PHONY: pot
# Catalogues with the messages of today; what nobody uses any more is dropped.
update-po: pot
	$(Q)set -e; for l in $(LANGUAGES); do msgmerge -q --no-fuzzy-matching --no-location \
		--no-wrap -o po/$$l.po.new po/$$l.po build/gen/cuvet.pot; \
		msgattrib --no-obsolete --no-wrap po/$$l.po.new | grep -v '^"POT-Creation-Date' >po/$$l.po; rm -f po/$$l.po.new; done
.PHONY: update-po

# ---------------------------------------------------------------------------------------------
# Install and uninstall; the second removes what the first can have put there, and nothing else.

COMPLETIONS := build/gen/cuvet.bash:bash-completion/completions/cuvet \
	build/gen/_cuvet:zsh/site-functions/_cuvet \
	build/gen/cuvet.fish:fish/vendor_completions.d/cuvet.fish

install: all
	install -D -m 755 build/cuvet '$(DESTDIR)$(BINDIR)/cuvet'
	for f in LICENSE README.md NEWS.md; do if [ -e $$f ]; then \
		install -D -m 644 $$f '$(DESTDIR)$(DOCDIR)'/$$f || exit 1; fi; done
	for f in build/man/*.[1-8]; do if [ -e $$f ]; then \
		install -D -m 644 $$f '$(DESTDIR)$(MANDIR)'/man$${f##*.}/$${f##*/} || exit 1; fi; done
	for f in $(COMPLETIONS); do if [ -e $${f%%:*} ]; then \
		install -D -m 644 $${f%%:*} '$(DESTDIR)$(DATADIR)'/$${f#*:} || exit 1; fi; done

# The library apart: most who install the program do not need it.
install-lib: lib
	install -D -m 644 build/lib/$(LIB_FILE) '$(DESTDIR)$(LIBDIR)/$(LIB_FILE)'
	ln -sf $(LIB_FILE) '$(DESTDIR)$(LIBDIR)/$(LIB_SONAME)'
	ln -sf $(LIB_SONAME) '$(DESTDIR)$(LIBDIR)/$(LIB_NAME)'
	install -m 644 build/lib/libcuvet.a '$(DESTDIR)$(LIBDIR)/libcuvet.a'
	install -D -m 644 include/cuvet.h '$(DESTDIR)$(INCLUDEDIR)/cuvet.h'
	install -D -m 644 build/lib/libcuvet.pc '$(DESTDIR)$(PKGCONFIGDIR)/libcuvet.pc'
	install -D -m 644 -t '$(DESTDIR)$(DOCDIR)/examples' docs/examples/check.c docs/examples/check.py
	install -D -m 644 docs/library.md '$(DESTDIR)$(DOCDIR)/library.md'
uninstall-lib:
	rm -f '$(DESTDIR)$(LIBDIR)'/$(LIB_NAME)* \
		'$(DESTDIR)$(LIBDIR)'/libcuvet.a '$(DESTDIR)$(INCLUDEDIR)'/cuvet.h \
		'$(DESTDIR)$(PKGCONFIGDIR)'/libcuvet.pc '$(DESTDIR)$(DOCDIR)'/library.md \
		'$(DESTDIR)$(DOCDIR)'/examples/check.c '$(DESTDIR)$(DOCDIR)'/examples/check.py
	for d in '$(DESTDIR)$(DOCDIR)'/examples '$(DESTDIR)$(DOCDIR)'; do \
		if [ -d "$$d" ]; then rmdir --ignore-fail-on-non-empty "$$d"; fi; done
.PHONY: install-lib uninstall-lib

uninstall: uninstall-lib
	rm -f '$(DESTDIR)$(BINDIR)/cuvet'
	for f in LICENSE README.md NEWS.md; do rm -f '$(DESTDIR)$(DOCDIR)'/$$f; done
	for s in 1 5 7; do rm -f '$(DESTDIR)$(MANDIR)'/man$$s/cuvet.$$s \
		'$(DESTDIR)$(MANDIR)'/man$$s/cuvet-*.$$s; done
	for f in $(COMPLETIONS); do rm -f '$(DESTDIR)$(DATADIR)'/$${f#*:}; done
	if [ -d '$(DESTDIR)$(DOCDIR)' ]; then rmdir '$(DESTDIR)$(DOCDIR)'; fi
.PHONY: install uninstall

# ---------------------------------------------------------------------------------------------
# What is given to others (docs/release.md). All of it is built from the tarball of `dist`.

dist:
	$(Q)sh packaging/dist.sh
portable:
	$(Q)sh packaging/portable/build.sh $(TARGETS)
release:
	$(Q)sh packaging/deps.sh release
	$(Q)bash packaging/release.sh
.PHONY: dist portable release

# ---------------------------------------------------------------------------------------------
# What a user types. `run` and `test` first install what is missing, then start make anew, as the
# compiler that the flags are asked of may have come only then.

deps:
	$(Q)sh packaging/deps.sh build

# Blocked and undetermined are answers; only a failure of the tool (2, 4, a signal) fails here.
run:
	$(Q)sh packaging/deps.sh build
	$(Q)$(MAKE) --no-print-directory $(if $(findstring j,$(MAKEFLAGS)),,-j$$(nproc)) all
	$(Q)./build/cuvet $(ARGS); rc=$$?; case $$rc in 0|1|3) ;; *) exit $$rc ;; esac

test:
	$(Q)sh packaging/deps.sh test
	$(Q)MAKE='$(MAKE)' bash tests/run.sh $(T)

# The tests without installing anything, and the static checks alone.
check:
	$(Q)MAKE='$(MAKE)' bash tests/run.sh $(T)
lint:
	$(Q)MAKE='$(MAKE)' bash tests/run.sh scripts/ lint/

# How often triage names the cause of real reports, by class and difficulty.
accuracy: build/cuvet
	$(Q)python3 tests/triage/accuracy.py ./build/cuvet

bench:
	$(Q)sh packaging/deps.sh bench
	$(Q)$(MAKE) --no-print-directory all
	$(Q)bash tests/bench.sh

# Rewrites the expected outputs; look at the difference before committing it.
update-golden:
	$(Q)MAKE='$(MAKE)' UPDATE_GOLDEN=1 bash tests/run.sh $(T)

test-programs: build/cuvet unit standin lib
test-programs-asan: build/asan/cuvet unit-asan fuzz-replay
.PHONY: deps run test check lint accuracy bench update-golden test-programs test-programs-asan

# Wraps over-long lines and turns leading blanks into tabs, in sources only.
format:
	$(Q)bash scripts/format.sh
.PHONY: format

# clang-tidy, a stamp a file, so that only what changed is looked at again. Nearly all of its time is
# the analyzer's; a third of its usual number of states a function keeps that to two minutes.
# TIDY_NODES=225000 is the usual one.
TIDY_NODES ?= 75000
TIDY := $(SOURCES:src/%.c=build/tidy/%.ok) $(if $(wildcard src/main.c),build/tidy/main.ok)
tidy: $(TIDY)
build/tidy/%.ok: src/%.c build/obj/%.o .clang-tidy
	@mkdir -p $(@D)
	$(QUIET) TIDY $<
	$(Q)rm -f $@; clang-tidy --quiet $< -- -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
		-DCUVET_VERSION='"$(VERSION)"' -Iinclude -Isrc -Ibuild/gen -Wall -Wextra \
		-Xclang -analyzer-config -Xclang max-nodes=$(TIDY_NODES) \
		>$(@:.ok=.txt) 2>&1 && touch $@
.PHONY: tidy

# What the check scripts compile with.
print-cflags: $(GEN_HEADERS)
	@printf '%s\n' '$(subst ','\'',$(CFLAGS_release))'
.PHONY: print-cflags

# The PTX that is checked in, anew; needs clang 19, which the build itself does not.
kernels:
	sh scripts/build-kernels.sh
.PHONY: kernels

clean:
	rm -rf build

help:
	@echo 'make                  build build/cuvet'
	@echo 'make run              install what the build needs, build, run `cuvet check` (ARGS=...)'
	@echo 'make test             install what the tests need, build, run all of them (T=pattern)'
	@echo 'make check            the same without installing anything'
	@echo 'make lint             the check scripts, clang-tidy, cppcheck and shellcheck alone'
	@echo 'make asan             build build/asan/cuvet with the sanitizers'
	@echo 'make unit             build the unit tests; unit-asan: with the sanitizers'
	@echo 'make lib              build build/lib: libcuvet, shared and static; install-lib'
	@echo 'make fuzz             fuzz each target for FUZZ_SECONDS (clang)'
	@echo 'make bench            start-up and check times as ratios (hyperfine)'
	@echo 'make accuracy         score triage on real reports, by class and difficulty'
	@echo 'make update-golden    rewrite expected outputs'
	@echo 'make format           wrap lines of C over 100 columns (clang-format)'
	@echo 'make kernels          compile kernels/*.cu to the PTX beside them (clang 19)'
	@echo 'make pot              extract the strings for translators'
	@echo 'make install          DESTDIR= PREFIX=; uninstall takes away the same'
	@echo 'make dist             build/dist/cuvet-VERSION.tar.gz, the source tarball'
	@echo 'make portable         build/portable/cuvet-x86_64: one file, needs libc alone (as root)'
	@echo 'make release          all of a release with its tests, and a log (as root)'
	@echo 'make clean            remove build/'
	@echo 'V=1 shows commands, WERROR=1 makes warnings errors; CC, CFLAGS, LDFLAGS as usual'

FORCE:
.PHONY: clean help FORCE
