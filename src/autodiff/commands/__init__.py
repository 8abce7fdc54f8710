"""The commands: rows that declare them, and a module each that maps a request to one call of the library."""
