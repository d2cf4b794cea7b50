"""The dispatch tables: node class of the syntax tree -> function(frame, node).

expr.py, calls.py, stmt.py, loops.py and match.py fill them; trace.py sees that all are loaded.
"""

EXPRESSIONS = {}
STATEMENTS = {}
