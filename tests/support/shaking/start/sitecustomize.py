"""What Python imports first where this folder is on PYTHONPATH: a process that a shaken test starts is shaken too."""

import importlib.util
import os
import sys

if os.environ.get("SHAKE") and "support.shaking" not in sys.modules:
    _folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    _spec = importlib.util.spec_from_file_location(
        "support.shaking", os.path.join(_folder, "__init__.py"), submodule_search_locations=[_folder]
    )
    _module = importlib.util.module_from_spec(_spec)
    sys.modules[_spec.name] = _module
    _spec.loader.exec_module(_module)
    _module.start()
