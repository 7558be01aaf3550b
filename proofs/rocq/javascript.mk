# The same checker as JavaScript, for `verale report --provable` and for who has no compiler. It is committed, so that
# nobody needs js_of_ocaml but who changes it; tests/end_to_end/pages/test_proved_script.py builds it again.
JAVASCRIPT := ../../verale/checker/proved/verale-proved.js
SPOKEN := extracted/checker.mli extracted/checker.ml front/reader.ml front/network_reader.ml $(HINTER) front/givers.ml front/claims.ml front/writer.ml front/hints.ml front/numbers.ml front/answers.ml front/browser.ml
PRIMITIVES := front/zarith.js front/browser.js

.PHONY: javascript
javascript: $(JAVASCRIPT)

# Inlined functions have frames so large that a head of 2,000 prototypes fills a browser's stack. A primitive that is
# missing stops the build: else it would fail when it is called.
$(JAVASCRIPT): $(SPOKEN) $(PRIMITIVES)
	@ocamlfind query zarith >/dev/null 2>&1 && command -v js_of_ocaml >/dev/null || { \
		echo 'make javascript needs OCaml, findlib, Zarith and js_of_ocaml; on Debian: apt-get install ocaml-nox ocaml-findlib libzarith-ocaml-dev js-of-ocaml' >&2; \
		exit 1; }
	mkdir -p $(COMPILED)/javascript
	cp $(SPOKEN) $(COMPILED)/javascript
	cd $(COMPILED)/javascript && ocamlfind ocamlc -no-check-prims -package zarith -linkpkg $(notdir $(SPOKEN)) -o browser.byte
	js_of_ocaml --opt 3 --disable inline --target-env browser --disable genprim --Werror $(PRIMITIVES) $(COMPILED)/javascript/browser.byte -o $(COMPILED)/browser.js
	mv $(COMPILED)/browser.js $@
