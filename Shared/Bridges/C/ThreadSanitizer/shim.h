#pragma once
// compiler-rt's annotations for synchronisation that the sanitizer cannot see by itself. Only referred to by builds
// with -DTHREAD_SANITIZER, which link its runtime.
void __tsan_acquire(void *address);
void __tsan_release(void *address);
