CREATE TABLE IF NOT EXISTS api_key (
  key_hash   VARCHAR(64) PRIMARY KEY,
  tenant     VARCHAR(64) NOT NULL
);
CREATE TABLE IF NOT EXISTS account (
  tenant     VARCHAR(64) NOT NULL,
  id         VARCHAR(64) NOT NULL,
  currency   VARCHAR(3)  NOT NULL,
  balance    BIGINT      NOT NULL CHECK (balance >= 0),
  PRIMARY KEY (tenant, id)
);
CREATE TABLE IF NOT EXISTS payment (
  id             VARCHAR(64)  PRIMARY KEY,
  tenant         VARCHAR(64)  NOT NULL,
  amount         BIGINT       NOT NULL,
  currency       VARCHAR(3)   NOT NULL,
  description    VARCHAR(255) NOT NULL,
  source         VARCHAR(64)  NOT NULL,
  status         VARCHAR(16)  NOT NULL,
  provider_id    VARCHAR(64),
  provider_said  VARCHAR(16),
  downstream_key VARCHAR(64)  NOT NULL,
  refunded       BIGINT       NOT NULL DEFAULT 0 CHECK (refunded >= 0 AND refunded <= amount),
  created_at     BIGINT       NOT NULL
);
CREATE INDEX IF NOT EXISTS payment_by_time ON payment (created_at);
CREATE INDEX IF NOT EXISTS payment_by_downstream_key ON payment (downstream_key);
CREATE TABLE IF NOT EXISTS refund (
  id             VARCHAR(64) PRIMARY KEY,
  tenant         VARCHAR(64) NOT NULL,
  payment_id     VARCHAR(64) NOT NULL,
  amount         BIGINT      NOT NULL,
  status         VARCHAR(16) NOT NULL,
  provider_id    VARCHAR(64),
  downstream_key VARCHAR(64) NOT NULL,
  asked_at       BIGINT,
  created_at     BIGINT      NOT NULL
);
CREATE INDEX IF NOT EXISTS refund_by_time ON refund (created_at);
CREATE INDEX IF NOT EXISTS refund_by_status ON refund (status, id);
CREATE TABLE IF NOT EXISTS transfer (
  id           VARCHAR(64) PRIMARY KEY,
  tenant       VARCHAR(64) NOT NULL,
  from_account VARCHAR(64) NOT NULL,
  to_account   VARCHAR(64) NOT NULL,
  amount       BIGINT      NOT NULL,
  currency     VARCHAR(3)  NOT NULL,
  created_at   BIGINT      NOT NULL
);
CREATE TABLE IF NOT EXISTS customer_order (
  id              VARCHAR(64)  PRIMARY KEY,
  tenant          VARCHAR(64)  NOT NULL,
  client_order_id VARCHAR(128) NOT NULL,
  item            VARCHAR(255) NOT NULL,
  quantity        BIGINT       NOT NULL,
  created_at      BIGINT       NOT NULL,
  UNIQUE (tenant, client_order_id)
);
CREATE TABLE IF NOT EXISTS customer_settings (
  tenant         VARCHAR(64) NOT NULL,
  customer_id    VARCHAR(64) NOT NULL,
  language       VARCHAR(16) NOT NULL,
  email_receipts BOOLEAN     NOT NULL,
  PRIMARY KEY (tenant, customer_id)
);
CREATE TABLE IF NOT EXISTS book_line (
  event_id   VARCHAR(64) NOT NULL,
  line       SMALLINT    NOT NULL,
  event_type VARCHAR(32) NOT NULL,
  tenant     VARCHAR(64) NOT NULL,
  account    VARCHAR(32) NOT NULL,
  currency   VARCHAR(3)  NOT NULL,
  debit      BIGINT      NOT NULL CHECK (debit >= 0),
  credit     BIGINT      NOT NULL CHECK (credit >= 0),
  posted_at  BIGINT      NOT NULL,
  PRIMARY KEY (event_id, line)
);
CREATE INDEX IF NOT EXISTS book_line_by_tenant ON book_line (tenant, account, currency);
