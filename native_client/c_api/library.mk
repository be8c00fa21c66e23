# The shared library of the C interface: its parts, and its place of installation. Included by ../Makefile.

PREFIX ?= /usr/local
LIBRARY_DIR := ../build/c_api
LIBRARY := $(LIBRARY_DIR)/libdeepspeech.so

.PHONY: c_api install
c_api: $(LIBRARY) $(LIBRARY_DIR)/deepspeech.h $(LIBRARY_DIR)/deepspeech.pc

# Its name has no version, as programs that were linked with DeepSpeech's library look for this name.
$(LIBRARY): $(call objects,plain,$(C_API) $(filter acoustic/%,$(KERNELS))) $(call decoder,plain) c_api/exports.map
	@mkdir -p $(@D)
	$(CXX) -shared -pthread -Wl,-soname,$(@F) -Wl,--version-script=c_api/exports.map -Wl,--gc-sections -Wl,--no-undefined \
		-s $(filter %.o,$^) -o $@

$(LIBRARY_DIR)/deepspeech.h: c_api/deepspeech.h
	@mkdir -p $(@D)
	cp $< $@

# For a library that is not installed: it is found where it was built.
$(LIBRARY_DIR)/deepspeech.pc: c_api/deepspeech.pc.in Makefile
	@mkdir -p $(@D)
	sed -e 's|@PREFIX@|$(abspath $(LIBRARY_DIR))|' -e 's|@INCLUDE@||' -e 's|@LIB@||' -e 's|@VERSION@|$(VERSION)|' $< > $@

install: $(LIBRARY)
	install -d "$(DESTDIR)$(PREFIX)/include" "$(DESTDIR)$(PREFIX)/lib/pkgconfig"
	install -m 644 c_api/deepspeech.h "$(DESTDIR)$(PREFIX)/include/deepspeech.h"
	install -m 755 $(LIBRARY) "$(DESTDIR)$(PREFIX)/lib/libdeepspeech.so"
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@INCLUDE@|/include|' -e 's|@LIB@|/lib|' -e 's|@VERSION@|$(VERSION)|' \
		c_api/deepspeech.pc.in | install -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/lib/pkgconfig/deepspeech.pc"
