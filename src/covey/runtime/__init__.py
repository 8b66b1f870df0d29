"""The runtime: everything that needs an event loop and is no face.

tasks      workers: take the tasks of an agent, handle each, hand in the outcome
programs   a program for each task: its folder, its prompt, its output as a result
children   spawned children: start them, supervise them, record how they end
channels   carry posts to people, and listen to what people say
opening    a space held open: its ports, its sessions, its children, closed in order
"""
