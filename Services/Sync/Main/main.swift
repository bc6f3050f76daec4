// This room is about to be furnished.
