-- Until when a token counts; none of one that counts until it is revoked.
ALTER TABLE tokens ADD COLUMN expires_at BIGINT;
