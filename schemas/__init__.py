"""What travels: the records, the table of signals, the table of topics, and the codec. Imports none of our rooms."""
