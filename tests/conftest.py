"""Settings that must precede every import."""

import os

# scikit-learn skips its array API check unless this is set before scipy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
