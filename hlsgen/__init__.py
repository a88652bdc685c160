"""hlsgen"""
