"""The runtime: everything that needs an event loop and is not a surface.

tasks      workers: take the tasks of an agent, handle each, hand in the outcome
programs   a program for each task: its folder, its prompt, its output as a result
children   spawned children: start them, supervise them, record their outcomes
channels   send posts to people, and receive their messages
open_space an open space: its ports, its sessions, its children, closed in order
"""
