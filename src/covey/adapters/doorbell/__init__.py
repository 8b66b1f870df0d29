"""Wake-ups among the processes of one machine: unix datagram sockets in a private runtime folder.

    <runtime>/<space>/p/<door>          a listening process's socket, one for all it listens to
    <runtime>/<space>/<topic>/<door>    a link to it, one for each topic it listens to

Who rings a topic lists that topic's folder and sends each socket in it one datagram, so the cost follows who listens to
the topic and nothing else. Short-lived programs use `ring`, which needs no event loop; `listen` has the whole port.
"""
