-- Numbers the changes that watchers hear of. A transaction takes its number while it holds a shared lock that names a
-- lower bound of it: whoever reads the changes asks which locks are held, and leaves out what they may still bring.
CREATE SEQUENCE conversation_change START WITH 1 CACHE 1;
--> statement-breakpoint
SELECT setval('conversation_change', 1, true);
--> statement-breakpoint
CREATE FUNCTION conversation_changed(owner text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext(owner), (SELECT last_value FROM conversation_change)::bit(32)::int4);
  RETURN nextval('conversation_change');
END
$$;
--> statement-breakpoint
-- A text as runs of letters and digits. Punctuation would make the parser see addresses, paths and signed numbers as
-- one word; U+001A marks an escaped character, which is no word either.
CREATE FUNCTION plain_words(given text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF strpos(given, E'\x1A') > 0 THEN
    given := regexp_replace(given, E'\x1A[0-9a-f]{4}', ' ', 'g');
  END IF;
  RETURN translate(given, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32));
END
$$;
--> statement-breakpoint
-- The words of a message's text parts, for the index of the search: of the first 100,000 characters, because a
-- tsvector refuses more than a megabyte and a search index must never make a write fail. It repeats `plain_words`
-- instead of calling it: where a table is vacuumed or analyzed, only the server's own functions are found.
CREATE FUNCTION message_words(content jsonb) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  parts jsonb := content->'parts';
  part jsonb;
  words text := '';
BEGIN
  IF jsonb_typeof(parts) = 'array' THEN
    FOR place IN 0 .. jsonb_array_length(parts) - 1 LOOP
      part := parts->place;
      IF part->>'type' = 'text' THEN
        words := words || ' ' || left(part->>'text', 100000);
        EXIT WHEN length(words) > 100000;
      END IF;
    END LOOP;
  END IF;
  IF words = '' AND jsonb_typeof(content->'content') = 'string' THEN
    words := left(content->>'content', 100000);
  END IF;
  words := left(words, 100001);
  IF strpos(words, E'\x1A') > 0 THEN
    words := regexp_replace(words, E'\x1A[0-9a-f]{4}', ' ', 'g');
  END IF;
  RETURN to_tsvector('pg_catalog.simple'::regconfig,
    translate(words, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)));
END
$$;
