"""A shop on Django in one file, as a site that nobody hardened: `python app.py runserver HOST:PORT --noreload`.

SITE_DEBUG=1 switches DEBUG on. What is planted here must never reach an agent.
"""

import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path

settings.configure(
    DEBUG=os.environ.get("SITE_DEBUG") == "1",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="planted-django-key",
    WAREHOUSE_DSN="postgres://shop:planted-pw@db.internal:5432/shop",
    MIDDLEWARE=[
        "django.middleware.gzip.GZipMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
    ],
    USE_TZ=True,
)


def home(request: HttpRequest) -> HttpResponse:
    return HttpResponse("<title>Shop</title><h1>Welcome</h1>")


def item(request: HttpRequest, number: int) -> HttpResponse:
    raise Http404(f"No item {number} in this shop")


def order(request: HttpRequest) -> HttpResponse:
    return HttpResponse("<title>Order</title><h1>Thank you</h1>")


def boom(request: HttpRequest) -> HttpResponse:
    dsn = settings.WAREHOUSE_DSN
    raise ConnectionError(f"could not connect to {dsn}")


urlpatterns = [path("", home), path("item/<int:number>", item), path("order", order), path("boom", boom)]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
