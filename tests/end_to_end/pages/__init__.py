"""Tests in a real browser, one for all of them: it is shared by what lies in this package."""
