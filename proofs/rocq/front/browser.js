// What browser.ml exports to JavaScript.

//Provides: verale_export
//Requires: caml_call_gen, caml_string_of_jsbytes, caml_jsbytes_of_string
function verale_export(greeting, ask) {
  globalThis.verale = {
    greeting: caml_jsbytes_of_string(greeting),
    ask: function (line) {
      return caml_jsbytes_of_string(caml_call_gen(ask, [caml_string_of_jsbytes(line)]));
    },
  };
  return 0;
}
