"""Plays NetworkManager on the system bus: its property Metered follows a file, true or false."""
import sys
import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME, PATH, PROPERTIES = "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", dbus.PROPERTIES_IFACE
DBusGMainLoop(set_as_default=True)


def metered():
    try:
        text = open(sys.argv[1]).read().strip()
    except OSError:
        text = ""
    return dbus.UInt32({"true": 1, "false": 4}.get(text, 0))


class Manager(dbus.service.Object):
    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return metered()

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    def look(self):
        now = metered()
        if now != self.last:
            self.last = now
            self.PropertiesChanged(NAME, {"Metered": now}, [])
        return True


bus = dbus.SystemBus()
name = dbus.service.BusName(NAME, bus)
manager = Manager(bus, PATH)
manager.last = None
GLib.timeout_add(50, manager.look)
GLib.MainLoop().run()
