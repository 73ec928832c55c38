"""Compose Java methods into bulk operations, without Java code of our own.

A call from Python into Java costs microseconds, so touching each document or hit from Python is
slow. ``java.lang.invoke`` joins existing methods into one handle that Java runs over a whole batch:
``then(analyse, search)`` bound to a searcher, mapped over a list of queries, is a single call.

Classes are named with slashes and types by JVM descriptors, ``(Ljava/lang/String;I)V``: with them
the overload is exact, which it is not when pyjnius guesses from Python values. Python integers are
boxed on the way, because pyjnius turns 0 and 0.0 into null where Java expects an object.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any, TypeAlias

from rerankers.retrieval.jvm import java_class

Handle: TypeAlias = Any
"""A ``java.lang.invoke.MethodHandle``; pyjnius gives Java objects no static type."""

STRING = "Ljava/lang/String;"
OBJECT = "Ljava/lang/Object;"
LIST = "Ljava/util/List;"
STREAM = "Ljava/util/stream/Stream;"
INT_STREAM = "Ljava/util/stream/IntStream;"
FUNCTION = "java/util/function/"


@functools.cache
def constructor(owner: str, descriptor: str) -> Handle:
    """Return the constructor of class ``owner`` as a handle that returns the new object."""
    return _tools().lookup.findConstructor(class_of(owner), type_of(descriptor))


@functools.cache
def method(owner: str, name: str, descriptor: str) -> Handle:
    """Return a method of an object; its first argument is that object."""
    return _tools().lookup.findVirtual(class_of(owner), name, type_of(descriptor))


@functools.cache
def static(owner: str, name: str, descriptor: str) -> Handle:
    """Return a static method."""
    return _tools().lookup.findStatic(class_of(owner), name, type_of(descriptor))


@functools.cache
def field(owner: str, name: str, descriptor: str) -> Handle:
    """Return the reader of a field of an object."""
    kind = _cast("java.lang.Class", type_of(f"(){descriptor}").returnType())
    return _tools().lookup.findGetter(class_of(owner), name, kind)


def bind(handle: Handle, position: int, *values: Any) -> Handle:
    """Fix the arguments from ``position`` on."""
    return _tools().handles.insertArguments(handle, position, *(_boxed(value) for value in values))


def then(first: Handle, *following: Handle) -> Handle:
    """Feed the result of each handle to the single remaining argument of the next."""
    for second in following:
        adapted = second.asType(_with_parameter(second.type(), 0, first.type().returnType()))
        first = _tools().handles.filterReturnValue(first, adapted)
    return first


def feed(target: Handle, position: int, *sources: Handle) -> Handle:
    """Compute the arguments of ``target`` from ``position`` on by ``sources`` of one argument each."""
    kind = target.type()
    for place, source in enumerate(sources, start=position):
        kind = _with_parameter(kind, place, source.type().returnType())
    return _tools().handles.filterArguments(target.asType(_method_type(kind)), position, *sources)


def share(target: Handle, descriptor: str, *order: int) -> Handle:
    """Reorder or repeat arguments: argument i of ``target`` is argument ``order[i]`` of the result."""
    return _tools().handles.permuteArguments(target, type_of(descriptor), *order)


def with_function(target: Handle, position: int, interface: str, function: Handle) -> Handle:
    """Fix the argument at ``position``, a Java functional interface, by ``function``.

    The interface object is made in Java when the handle is called: from some Java version on it is
    of a hidden class, which pyjnius cannot take across.
    """
    kind = class_of(interface)
    supplier = bind(_interface_maker(), 0, kind, function)
    supplier = supplier.asType(_method_type(supplier.type().changeReturnType(kind)))
    return _tools().handles.collectArguments(target, position, supplier)


def call(handle: Handle, *arguments: Any) -> Any:
    """Call a handle; the result is a Python number or list, or a Java object."""
    if arguments:
        handle = bind(handle, 0, *arguments)
    return handle.invokeWithArguments(_tools().nothing)


def submit(pool: Any, handle: Handle) -> Any:
    """Start a handle without arguments in a ``ForkJoinPool``, whose threads its streams use.

    Returns
    -------
    Any
        the ``java.util.concurrent.ForkJoinTask``; its ``get()`` waits for the result.
    """
    start = method(
        "java/util/concurrent/ForkJoinPool",
        "submit",
        "(Ljava/util/concurrent/Callable;)Ljava/util/concurrent/ForkJoinTask;",
    )
    return call(with_function(start, 1, "java/util/concurrent/Callable", handle), pool)


def available_threads() -> int:
    """Return the number of cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def strings(values: list[str]) -> Any:
    """Return a ``java.util.List`` of the strings."""
    return java_class("java.util.Arrays").asList(*values)


def class_of(name: str) -> Any:
    """Return the ``java.lang.Class`` of a class name with slashes."""
    return importlib.import_module("jnius").find_javaclass(name)


def type_of(descriptor: str) -> Any:
    """Return the ``java.lang.invoke.MethodType`` of a method descriptor."""
    tools = _tools()
    return tools.types.fromMethodDescriptorString(descriptor, tools.loader)


class _Tools:
    """The few Java objects every composition needs."""

    def __init__(self) -> None:
        self.handles = java_class("java.lang.invoke.MethodHandles")
        self.types = java_class("java.lang.invoke.MethodType")
        self.loader = java_class("java.lang.ClassLoader").getSystemClassLoader()
        self.lookup = self.handles.publicLookup()
        self.nothing = java_class("java.util.ArrayList")()


@functools.cache
def _tools() -> _Tools:
    return _Tools()


@functools.cache
def _interface_maker() -> Handle:
    """Return the handle (interface, function) -> object of that interface.

    Up to Java 22 the method that makes one asks who calls it, and refuses handles; a helper that
    Anserini brings along calls it by reflection.
    """
    by_reflection = static(
        "org/apache/commons/lang3/reflect/MethodUtils",
        "invokeStaticMethod",
        f"(Ljava/lang/Class;{STRING}[{OBJECT}){OBJECT}",
    )
    arguments = by_reflection.asFixedArity().asCollector(class_of(f"[{OBJECT}"), 2)
    return bind(arguments, 0, class_of("java/lang/invoke/MethodHandleProxies"), "asInterfaceInstance")


def _with_parameter(kind: Any, position: int, parameter: Any) -> Any:
    changed = _method_type(kind).changeParameterType(position, _cast("java.lang.Class", parameter))
    return _method_type(changed)


def _method_type(kind: Any) -> Any:
    return _cast("java.lang.invoke.MethodType", kind)


def _cast(name: str, value: Any) -> Any:
    # Methods that Java overrides with a narrower result come back as the wider type.
    return importlib.import_module("jnius").cast(name, value)


def _boxed(value: Any) -> Any:
    if isinstance(value, int):
        return java_class("java.lang.Integer")(value)
    if isinstance(value, float):
        return java_class("java.lang.Double")(value)
    return value
