"""The connection to NATS: settings, credentials, retries, requests and errors."""
