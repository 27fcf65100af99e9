"""The engine for more than one machine: PostgreSQL through psycopg, any number of servers on one database."""
