/*
 * Stands in for libaio.so.1 and libnuma.so.1, which mysqld is linked against and a bare machine lacks. mysqld runs with
 * innodb-use-native-aio=0, and numa_available says no, so it calls none of the other functions.
 *
 * absent.so.base64 is this file for x86_64, compressed with gzip, as text. To make it again:
 *
 *   gcc -Os -shared -nostdlib -fno-asynchronous-unwind-tables -fno-stack-protector \
 *     -Wl,--version-script=absent.map,--build-id=none,-z,noseparate-code,-z,norelro,--hash-style=gnu -s -o absent.so absent.c
 *   gzip -9n < absent.so | base64 > absent.so.base64
 */
int numa_available(void) { return -1; }

#define REFUSE(function) \
    long function(void) { return -38; }

REFUSE(io_submit)
REFUSE(io_setup)
REFUSE(io_getevents)
REFUSE(io_destroy)
REFUSE(numa_free)
REFUSE(set_mempolicy)
REFUSE(mbind)
REFUSE(numa_alloc_local)
REFUSE(numa_bitmask_free)
REFUSE(numa_get_mems_allowed)
