#!/usr/bin/env python3
"""A server app (MOB-56): takes a shop's orders from its stock, and writes a receipt for each.

    caravan schema set --container shop --type orders --fields 'item VARCHAR, count INTEGER' \\
      --grant world=nothing --grant server=read
    caravan schema set --container shop --type stock --fields 'count INTEGER, done LIST<VARCHAR>' \\
      --grant authenticated=create+read+write
    caravan schema set --container shop --type receipts --fields 'item VARCHAR, left INTEGER' \\
      --grant authenticated=read --grant server=create+read+write
    caravan server-app add --name billing --container shop --out billing.creds
    shop.py --creds billing.creds [--nats URL] [--tls-ca FILE] [--state FILE] shop

Customers save orders, which are theirs and the server's to see. The server hears of each, takes it from the stock,
which clerks change as well, and saves a receipt: whoever has subscribed to receipts is notified as of any record. It
keeps how far it has come in a file: what came while it was away it takes up when it is back. Start as many as you
like, with a file each: an order is taken once.
"""
import argparse
import asyncio
import os
import pathlib

from caravan_server import Conflict, Container

KEPT = 100  # orders that a stock remembers as done


async def take(shop, order):
    """Takes the order from its stock, once; what is left then, or None: there is no such item."""
    stock = await shop.read("stock", order["item"])
    while stock is not None and order.name not in (stock["done"] or []):
        stock["count"] -= order["count"]
        stock["done"] = [*(stock["done"] or []), order.name][-KEPT:]
        try:
            stock = await shop.save(stock)
        except Conflict as conflict:
            # Somebody was quicker: what they made of it is what the order is taken from.
            print(f"conflict over {stock.name}", flush=True)
            stock = conflict.server
    return stock["count"] if stock is not None else None


async def settle(shop, name):
    """The order's receipt; an order that has one is done."""
    order = await shop.read("orders", name)
    # Names are a database's, whatever the type: the order has this one.
    receipt = await shop.new("receipts", f"receipt-{name}")
    if order is None or await shop.read("receipts", receipt.name) is not None:
        return
    left = await take(shop, order)
    receipt["item"], receipt["left"] = order["item"], left
    try:
        await shop.save(receipt)
        print(f"{name}: {left} {order['item']} left", flush=True)
    except Conflict:
        pass  # another one of us has written it


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nats", default="nats://127.0.0.1:4222", metavar="URL")
    parser.add_argument("--creds", required=True, metavar="FILE")
    parser.add_argument("--tls-ca", metavar="FILE")
    parser.add_argument("--state", default="shop.token", metavar="FILE", type=pathlib.Path)
    parser.add_argument("container")
    options = parser.parse_args()
    shop = await Container.connect(options.creds, options.nats, options.container, options.tls_ca)
    await shop.subscribe("orders", "orders", events=["enters"])
    token = options.state.read_bytes() if options.state.exists() else b""
    if not token:
        # What was ordered before the first subscription nobody tells of.
        async for order in shop.query("orders"):
            await settle(shop, order.name)
    print("ready", flush=True)
    async for notifications, token in shop.follow(token):
        for one in notifications:
            if one["reason"] == "missed":
                async for order in shop.query("orders"):
                    await settle(shop, order.name)
            elif one["subscription"] == "orders":
                await settle(shop, one["record"])
        # Only what is done counts: after a crash the rest comes again.
        draft = options.state.with_suffix(".new")
        draft.write_bytes(token)
        os.replace(draft, options.state)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
