"""Folders that people and foreign programs share with a space.

folder, visit      the port: visits of one process at a time, and the files of a visit
scan, notebook     detection of changes by other programs, and the database of the known files
file_sync, atomic  writing of files: wanted places, atomic names, durability"""
