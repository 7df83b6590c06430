"""A shop on Flask: `flask --app app.py run`. What is planted here must never reach an agent."""

from flask import Flask, abort, request

app = Flask(__name__)
app.secret_key = "planted-flask-key"
app.config["WAREHOUSE_DSN"] = "postgres://shop:planted-pw@db.internal:5432/shop"


@app.get("/")
def home() -> str:
    return "<title>Shop</title><h1>Welcome</h1>"


@app.post("/order")
def order() -> str:
    quantity = request.form["quantity"]
    if not quantity.isdigit() or int(quantity) < 1:
        abort(422, description="The quantity must be a whole number, 1 or more.")
    return "<title>Order</title><h1>Thank you</h1>"


@app.get("/boom")
def boom() -> str:
    dsn = app.config["WAREHOUSE_DSN"]
    raise ConnectionError(f"could not connect to {dsn}")
