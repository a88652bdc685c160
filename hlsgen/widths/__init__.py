"""How many bits a network's answers need: accuracy by precision."""
