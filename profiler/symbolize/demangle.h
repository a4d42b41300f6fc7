#ifndef SYMBOLIZE_DEMANGLE_H
#define SYMBOLIZE_DEMANGLE_H

/*
 * The C++ name in readable form, owned (free), or NULL when it is none, when there is no
 * demangler in the process, or when memory ran out.
 */
char *demangle(const char *mangled);

#endif
