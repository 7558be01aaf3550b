"""Reports for people: one static page, a table, or a picture of one certificate. Needs the `report` extra.

In the order of the work: `collect` (what a report shows), `verdicts` (what the checker says of it), `estimates`
(float64 figures for people), `grid` and `thumbnails` (patches and images). Then one module a product: `page` with
`page_full` (certificates and images), `page_check` (the checker in it) and `page_files`; `static_pages`; `table`;
`picture`; and `single`, which a terminal and a notebook show.
"""
