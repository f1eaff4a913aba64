return string.format('%.0f', now())
