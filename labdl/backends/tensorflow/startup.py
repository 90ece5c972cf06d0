"""Import of TensorFlow without the messages of its C++ code."""

import os
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before the import, at which its C++ code reads it


def _import_quietly() -> None:
    """Import TensorFlow without the line about oneDNN, which its C++ code writes before it reads the log level."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as lines:
        os.dup2(lines.fileno(), 2)
        try:
            import tensorflow  # noqa: F401
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            lines.seek(0)
            for line in lines:
                if b"oneDNN custom operations" not in line and b"absl::InitializeLog" not in line:
                    os.write(2, line)


_import_quietly()
