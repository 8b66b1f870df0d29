"""Wake-ups among the processes of one machine: unix datagram sockets in a private runtime folder.

    <runtime>/<space>/p/<socket>          a listening process's socket, one for all it listens to
    <runtime>/<space>/<topic>/<socket>    a link to it, one for each topic it listens to

A process that rings a topic lists the topic's folder and sends one datagram to each socket in it. So the cost depends
only on the number of listeners to the topic. Short-lived programs use `ringer`, which needs no event loop; `wakeups`
has the whole port.
"""
