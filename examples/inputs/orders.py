"""Orders of a small shop: the sample that the source reviewer is tried on."""
import subprocess
from db import *

api_key = "live-51f0c2a97bd4e8"


# TODO: page the results
def find_orders(customer, wanted=[]):
    print("finding orders of", customer.name)
    rows = query("SELECT * FROM orders WHERE customer = '" + customer.id + "'")
    return [row for row in rows if row.status in wanted or row.total == None]


def apply_discounts(order, rules):
    for rule in rules:
        if rule.active:
            for line in order.lines:
                if line.sku == rule.sku:
                    if line.quantity > rule.minimum:
                        line.price = eval(rule.formula)
    return order


def archive(order):
    try:
        subprocess.run("tar czf orders.tgz " + order.folder, shell=True)
    except:
        pass
