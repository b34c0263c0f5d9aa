
CREATE FUNCTION public.conversation_changed(owner text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext(owner), (SELECT last_value FROM conversation_change)::bit(32)::int4);
  RETURN nextval('conversation_change');
END
$$;

CREATE FUNCTION public.id_key(id text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  SELECT CASE WHEN id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$'
    THEN ('x' || substr(id, 1, 8) || substr(id, 10, 4) || substr(id, 33, 4))::bit(64)::bigint
    ELSE ('x' || substr(encode(sha256(convert_to(id, 'UTF8')), 'hex'), 1, 16))::bit(64)::bigint END
$_$;

CREATE TABLE public.api_key (
    id text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL,
    prefix text NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone
);

CREATE TABLE public.compaction (
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    seq integer NOT NULL,
    kind text NOT NULL,
    from_seq integer,
    to_seq integer,
    archive_id text COLLATE pg_catalog."C"
);

CREATE TABLE public.conversation (
    id text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    status text NOT NULL,
    model text,
    effort text,
    instructions text,
    compact_threshold double precision,
    queue_paused boolean DEFAULT false NOT NULL,
    metadata jsonb,
    parent_id text COLLATE pg_catalog."C",
    parent_seq integer,
    archive_of text COLLATE pg_catalog."C",
    compacted_from text COLLATE pg_catalog."C",
    context_size double precision,
    created_at timestamp with time zone NOT NULL,
    last_activity_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    changed_at bigint NOT NULL,
    log integer NOT NULL,
    last_model text
);

CREATE SEQUENCE public.conversation_change
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.conversation_head (
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    next_seq integer NOT NULL,
    sealed_seq integer NOT NULL,
    turn_count integer DEFAULT 0 NOT NULL,
    turn_id text COLLATE pg_catalog."C",
    compaction_id text COLLATE pg_catalog."C",
    node text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    fence integer DEFAULT 0 NOT NULL,
    stop_requested_at timestamp with time zone,
    started_at timestamp with time zone,
    active_at timestamp with time zone NOT NULL,
    log integer NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE public.conversation ALTER COLUMN log ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.conversation_log_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.conversation_message (
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    id_key bigint NOT NULL,
    log integer NOT NULL,
    first_seq integer NOT NULL,
    part_count integer NOT NULL,
    turn integer,
    covers_from integer,
    covers_to integer,
    id text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    type text NOT NULL,
    step text COLLATE pg_catalog."C",
    resource_id text,
    body_hash text,
    content jsonb NOT NULL
);

CREATE TABLE public.conversation_notice (
    owner text NOT NULL COLLATE pg_catalog."C",
    changed_at bigint NOT NULL,
    kind text NOT NULL,
    data json NOT NULL,
    noted_at timestamp with time zone NOT NULL
);

CREATE TABLE public.conversation_turn (
    started_at timestamp with time zone NOT NULL,
    sealed_at timestamp with time zone,
    log integer NOT NULL,
    ordinal integer NOT NULL,
    first_seq integer NOT NULL,
    last_seq integer NOT NULL,
    sealed_fence integer,
    id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    reason text,
    model text,
    effort text,
    instructions text,
    next_turn_id text COLLATE pg_catalog."C",
    steps json,
    metrics json,
    provider_calls json,
    appended json
)
WITH (fillfactor='80');

CREATE TABLE public.login (
    id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.node (
    id text NOT NULL COLLATE pg_catalog."C",
    until timestamp with time zone NOT NULL
);

CREATE TABLE public.queued_message (
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    rank integer NOT NULL,
    mode text NOT NULL,
    model text,
    effort text,
    instructions text,
    role text NOT NULL,
    type text NOT NULL,
    content jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    resource_id text,
    part_count integer NOT NULL,
    queued_at timestamp with time zone NOT NULL
);

CREATE TABLE public.receipt (
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    body_hash text NOT NULL,
    outcome text NOT NULL,
    turn_id text COLLATE pg_catalog."C"
);

CREATE TABLE public.schema_migration (
    place integer NOT NULL,
    name text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.search_entry (
    created_ms bigint NOT NULL,
    owner integer NOT NULL,
    log integer NOT NULL,
    first_seq integer NOT NULL,
    words tsvector NOT NULL
);

CREATE TABLE public.search_owner (
    number integer NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    through bigint DEFAULT 0 NOT NULL,
    open integer[] DEFAULT '{}'::integer[] NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE public.search_owner ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.search_owner_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.turn_journal (
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    turn_id text NOT NULL COLLATE pg_catalog."C",
    first_n integer NOT NULL,
    event_count integer NOT NULL,
    epoch integer NOT NULL,
    data text NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000');

INSERT INTO public.api_key VALUES
	('grace-key', 'grace', 'grace-hash', 'grace-prefix', '{read,write}', '2025-11-13 02:13:19+00', NULL),
	('ada-key', 'ada', 'ada-hash', 'ada-prefix', '{read,write}', '2025-11-13 02:13:19+00', '2025-11-13 02:13:20+00');

INSERT INTO public.compaction VALUES
	('ada-long', 13, 'made', 1, 4, 'ada-long-archive'),
	('ada-other', 5, 'made', 1, 4, 'ada-other-archive'),
	('ada-other', 5, 'undone', NULL, NULL, NULL),
	('grace-long', 13, 'made', 1, 4, 'grace-long-archive'),
	('grace-other', 5, 'made', 1, 4, 'grace-other-archive'),
	('grace-other', 5, 'undone', NULL, NULL, NULL);

INSERT INTO public.conversation OVERRIDING SYSTEM VALUE VALUES
	('ada-fork', 'ada', 'one', 'open', NULL, NULL, NULL, NULL, false, NULL, 'ada-long', 4, NULL, NULL, 14, '2026-11-17 22:34:33.548+00', '2026-11-17 22:34:33.557+00', '2026-11-17 22:34:33.557+00', 15, 4, 'demo/one'),
	('ada-long-archive', 'ada', 'one', 'closed', NULL, NULL, NULL, NULL, false, NULL, 'ada-long', 12, 'ada-long', NULL, 14, '2026-11-17 22:34:33.569+00', '2026-11-17 22:34:33.569+00', '2026-11-17 22:34:33.569+00', 18, 6, 'demo/one'),
	('ada-long', 'ada', 'one', 'open', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, 'ada-long-archive', 14, '2026-11-17 22:34:33.52+00', '2026-11-17 22:34:33.585+00', '2026-11-17 22:34:33.585+00', 23, 2, 'demo/one'),
	('ada-heir-of-reused', 'ada', 'shared', 'open', NULL, NULL, NULL, NULL, false, NULL, '~01a1eba5-cb28-702d-92f9-115b6401d07e~ada-reused', 4, NULL, NULL, 14, '2026-11-17 22:34:33.63+00', '2026-11-17 22:34:33.63+00', '2026-11-17 22:34:33.63+00', 43, 12, 'demo/one'),
	('ada-fork-of-compacted', 'ada', 'one', 'open', NULL, NULL, NULL, NULL, false, NULL, 'ada-long', 13, NULL, 'ada-long-archive', 14, '2026-11-17 22:34:33.586+00', '2026-11-17 22:34:33.586+00', '2026-11-17 22:34:33.586+00', 24, 7, 'demo/one'),
	('ada-other-archive', 'ada', 'apples', 'closed', NULL, NULL, NULL, NULL, false, NULL, 'ada-other', 4, 'ada-other', NULL, 14, '2026-11-17 22:34:33.595+00', '2026-11-17 22:34:33.595+00', '2026-11-17 22:34:33.595+00', 26, 8, 'demo/one'),
	('~01a1eba5-cb28-702d-92f9-115b6401d07e~ada-reused', 'ada', 'shared', 'removed', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, 14, '2026-11-17 22:34:33.622+00', '2026-11-17 22:34:33.627+00', '2026-11-17 22:34:33.628+00', 42, 11, 'demo/one'),
	('ada-other', 'ada', 'apples', 'open', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, 14, '2026-11-17 22:34:33.537+00', '2026-11-17 22:34:33.597+00', '2026-11-17 22:34:33.6+00', 30, 3, 'demo/one'),
	('ada-heir-of-gone', 'ada', 'shared', 'open', NULL, NULL, NULL, NULL, false, NULL, 'ada-gone', 4, NULL, NULL, 14, '2026-11-17 22:34:33.61+00', '2026-11-17 22:34:33.61+00', '2026-11-17 22:34:33.61+00', 36, 10, 'demo/one'),
	('ada-gone', 'ada', 'shared', 'removed', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, 14, '2026-11-17 22:34:33.602+00', '2026-11-17 22:34:33.608+00', '2026-11-17 22:34:33.608+00', 35, 9, 'demo/one'),
	('ada-reused', 'ada', 'again', 'open', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, 14, '2026-11-17 22:34:33.641+00', '2026-11-17 22:34:33.646+00', '2026-11-17 22:34:33.646+00', 47, 13, 'demo/one'),
	('ada-fork-of-reused', 'ada', 'again', 'open', NULL, NULL, NULL, NULL, false, NULL, 'ada-reused', 4, NULL, NULL, 14, '2026-11-17 22:34:33.648+00', '2026-11-17 22:34:33.648+00', '2026-11-17 22:34:33.648+00', 48, 14, 'demo/one'),
	('grace-long-archive', 'grace', 'one', 'closed', NULL, NULL, NULL, NULL, false, NULL, 'grace-long', 12, 'grace-long', NULL, 14, '2026-11-17 22:34:33.711+00', '2026-11-17 22:34:33.711+00', '2026-11-17 22:34:33.711+00', 75, 21, 'demo/one'),
	('ada-busy', 'ada', 'before', 'open', NULL, NULL, NULL, NULL, true, NULL, NULL, NULL, NULL, NULL, 14, '2026-11-17 22:34:33.665+00', '2026-11-17 22:34:33.668+00', '2026-11-17 22:34:33.676+00', 56, 15, 'demo/one'),
	('ada-settings', 'ada', 'Settings 0000 here', 'open', 'demo/one', 'high', 'Be brief', 1000, false, '{"list": [1, 2], "colour": "green"}', NULL, NULL, NULL, NULL, NULL, '2026-11-17 22:34:33.508+00', '2026-11-17 22:34:33.683+00', '2026-11-17 22:34:33.683+00', 57, 1, NULL),
	('ada-fork-of-fork', 'ada', 'Deeper', 'closed', NULL, NULL, NULL, NULL, false, NULL, 'ada-fork', 8, NULL, NULL, 14, '2026-11-17 22:34:33.559+00', '2026-11-17 22:34:33.559+00', '2026-11-17 22:34:33.684+00', 58, 5, 'demo/one'),
	('grace-fork', 'grace', 'one', 'open', NULL, NULL, NULL, NULL, false, NULL, 'grace-long', 4, NULL, NULL, 14, '2026-11-17 22:34:33.7+00', '2026-11-17 22:34:33.704+00', '2026-11-17 22:34:33.704+00', 72, 19, 'demo/one'),
	('grace-long', 'grace', 'one', 'open', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, 'grace-long-archive', 14, '2026-11-17 22:34:33.686+00', '2026-11-17 22:34:33.723+00', '2026-11-17 22:34:33.723+00', 80, 17, 'demo/one'),
	('grace-heir-of-gone', 'grace', 'shared', 'open', NULL, NULL, NULL, NULL, false, NULL, 'grace-gone', 4, NULL, NULL, 14, '2026-11-17 22:34:33.778+00', '2026-11-17 22:34:33.778+00', '2026-11-17 22:34:33.778+00', 93, 25, 'demo/one'),
	('grace-fork-of-compacted', 'grace', 'one', 'open', NULL, NULL, NULL, NULL, false, NULL, 'grace-long', 13, NULL, 'grace-long-archive', 14, '2026-11-17 22:34:33.726+00', '2026-11-17 22:34:33.726+00', '2026-11-17 22:34:33.726+00', 81, 22, 'demo/one'),
	('grace-other-archive', 'grace', 'apples', 'closed', NULL, NULL, NULL, NULL, false, NULL, 'grace-other', 4, 'grace-other', NULL, 14, '2026-11-17 22:34:33.734+00', '2026-11-17 22:34:33.734+00', '2026-11-17 22:34:33.734+00', 83, 23, 'demo/one'),
	('grace-gone', 'grace', 'shared', 'removed', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, 14, '2026-11-17 22:34:33.761+00', '2026-11-17 22:34:33.772+00', '2026-11-17 22:34:33.772+00', 92, 24, 'demo/one'),
	('grace-other', 'grace', 'apples', 'open', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, 14, '2026-11-17 22:34:33.696+00', '2026-11-17 22:34:33.744+00', '2026-11-17 22:34:33.756+00', 87, 18, 'demo/one'),
	('grace-heir-of-reused', 'grace', 'shared', 'open', NULL, NULL, NULL, NULL, false, NULL, '~01a1eba5-cbd6-7243-a4ee-42ad2cc15d20~grace-reused', 4, NULL, NULL, 14, '2026-11-17 22:34:33.804+00', '2026-11-17 22:34:33.804+00', '2026-11-17 22:34:33.804+00', 100, 27, 'demo/one'),
	('~01a1eba5-cbd6-7243-a4ee-42ad2cc15d20~grace-reused', 'grace', 'shared', 'removed', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, 14, '2026-11-17 22:34:33.795+00', '2026-11-17 22:34:33.799+00', '2026-11-17 22:34:33.799+00', 99, 26, 'demo/one'),
	('grace-reused', 'grace', 'again', 'open', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, 14, '2026-11-17 22:34:33.815+00', '2026-11-17 22:34:33.817+00', '2026-11-17 22:34:33.817+00', 104, 28, 'demo/one'),
	('grace-fork-of-reused', 'grace', 'again', 'open', NULL, NULL, NULL, NULL, false, NULL, 'grace-reused', 4, NULL, NULL, 14, '2026-11-17 22:34:33.819+00', '2026-11-17 22:34:33.819+00', '2026-11-17 22:34:33.819+00', 105, 29, 'demo/one'),
	('grace-busy', 'grace', 'before', 'open', NULL, NULL, NULL, NULL, true, NULL, NULL, NULL, NULL, NULL, 14, '2026-11-17 22:34:33.83+00', '2026-11-17 22:34:33.833+00', '2026-11-17 22:34:33.842+00', 113, 30, 'demo/one'),
	('grace-settings', 'grace', 'Settings 0000 here', 'open', 'demo/one', 'high', 'Be brief', 1000, false, '{"list": [1, 2], "colour": "green"}', NULL, NULL, NULL, NULL, NULL, '2026-11-17 22:34:33.685+00', '2026-11-17 22:34:33.844+00', '2026-11-17 22:34:33.844+00', 114, 16, NULL),
	('grace-fork-of-fork', 'grace', 'Deeper', 'closed', NULL, NULL, NULL, NULL, false, NULL, 'grace-fork', 8, NULL, NULL, 14, '2026-11-17 22:34:33.706+00', '2026-11-17 22:34:33.706+00', '2026-11-17 22:34:33.845+00', 115, 20, 'demo/one'),
	('ada-compacting', 'ada', 'Old', 'open', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-17 22:34:33.846+00', '2026-11-17 22:34:33.852+00', '2026-11-17 22:34:33.853+00', 118, 31, NULL);

INSERT INTO public.conversation_head VALUES
	('ada-settings', 'ada', 2, 1, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.683+00', 1),
	('ada-heir-of-gone', 'ada', 5, 4, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.61+00', 10),
	('grace-long', 'grace', 18, 17, 4, NULL, NULL, '', 5, NULL, NULL, '2026-11-17 22:34:33.723+00', 17),
	('grace-other', 'grace', 6, 5, 1, NULL, NULL, '', 2, NULL, NULL, '2026-11-17 22:34:33.744+00', 18),
	('grace-settings', 'grace', 2, 1, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.844+00', 16),
	('ada-fork', 'ada', 9, 8, 1, NULL, NULL, '', 1, NULL, NULL, '2026-11-17 22:34:33.557+00', 4),
	('ada-fork-of-fork', 'ada', 9, 8, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.559+00', 5),
	('ada-long-archive', 'ada', 13, 12, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.569+00', 6),
	('ada-heir-of-reused', 'ada', 5, 4, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.63+00', 12),
	('ada-long', 'ada', 18, 17, 4, NULL, NULL, '', 5, NULL, NULL, '2026-11-17 22:34:33.585+00', 2),
	('ada-fork-of-compacted', 'ada', 14, 13, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.586+00', 7),
	('ada-other-archive', 'ada', 5, 4, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.595+00', 8),
	('ada-other', 'ada', 6, 5, 1, NULL, NULL, '', 2, NULL, NULL, '2026-11-17 22:34:33.597+00', 3),
	('ada-reused', 'ada', 5, 4, 1, NULL, NULL, '', 1, NULL, NULL, '2026-11-17 22:34:33.646+00', 13),
	('ada-fork-of-reused', 'ada', 5, 4, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.648+00', 14),
	('ada-busy', 'ada', 7, 4, 2, 'ada-busy.running.turn', NULL, 'node-1', 2, '2026-11-17 22:34:33.676+00', '2026-11-17 22:34:33.667+00', '2026-11-17 22:34:33.668+00', 15),
	('grace-fork', 'grace', 9, 8, 1, NULL, NULL, '', 1, NULL, NULL, '2026-11-17 22:34:33.704+00', 19),
	('grace-fork-of-fork', 'grace', 9, 8, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.706+00', 20),
	('grace-long-archive', 'grace', 13, 12, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.711+00', 21),
	('grace-fork-of-compacted', 'grace', 14, 13, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.726+00', 22),
	('grace-other-archive', 'grace', 5, 4, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.734+00', 23),
	('grace-heir-of-gone', 'grace', 5, 4, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.778+00', 25),
	('grace-heir-of-reused', 'grace', 5, 4, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.804+00', 27),
	('grace-reused', 'grace', 5, 4, 1, NULL, NULL, '', 1, NULL, NULL, '2026-11-17 22:34:33.817+00', 28),
	('grace-fork-of-reused', 'grace', 5, 4, 0, NULL, NULL, '', 0, NULL, NULL, '2026-11-17 22:34:33.819+00', 29),
	('grace-busy', 'grace', 7, 4, 2, 'grace-busy.running.turn', NULL, 'node-1', 2, '2026-11-17 22:34:33.842+00', '2026-11-17 22:34:33.832+00', '2026-11-17 22:34:33.833+00', 30),
	('ada-compacting', 'ada', 2, 1, 0, NULL, 'ada-compacting.lease', 'node-2', 1, NULL, '2026-11-17 22:34:33.853+00', '2026-11-17 22:34:33.848+00', 31);

INSERT INTO public.conversation_message VALUES
	('2026-11-17 22:34:33.515+00', -5914614291950090658, 2, 1, 1, 1, NULL, NULL, 'ada-long.one.question', 'ada-long', 'user', 'text', NULL, NULL, 'one', '{"parts": [{"text": "one", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.523+00', 175008118916684648, 2, 2, 2, 1, NULL, NULL, 'ada-long.one.call', 'ada-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for one", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"one\"}", "toolName": "look", "toolCallId": "one.1"}], "format": 2}'),
	('2026-11-17 22:34:33.526+00', 8473058847320549744, 2, 4, 1, 1, NULL, NULL, 'ada-long.one.answer', 'ada-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to one", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.529+00', 8807926690008882955, 2, 5, 1, 2, NULL, NULL, 'ada-long.two.question', 'ada-long', 'user', 'text', NULL, NULL, 'two', '{"parts": [{"text": "two", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.53+00', 3199127215785146675, 2, 6, 2, 2, NULL, NULL, 'ada-long.two.call', 'ada-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for two", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"two\"}", "toolName": "look", "toolCallId": "two.1"}], "format": 2}'),
	('2026-11-17 22:34:33.531+00', -6683149648762229843, 2, 8, 1, 2, NULL, NULL, 'ada-long.two.answer', 'ada-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to two", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.532+00', 7893890887064835229, 2, 9, 1, 3, NULL, NULL, 'ada-long.three.question', 'ada-long', 'user', 'text', NULL, NULL, 'three', '{"parts": [{"text": "three", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.532+00', 6289047130151978906, 2, 10, 2, 3, NULL, NULL, 'ada-long.three.call', 'ada-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for three", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"three\"}", "toolName": "look", "toolCallId": "three.1"}], "format": 2}'),
	('2026-11-17 22:34:33.533+00', -4808040400720987110, 2, 12, 1, 3, NULL, NULL, 'ada-long.three.answer', 'ada-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to three", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.534+00', 6876671679657508589, 3, 1, 1, 1, NULL, NULL, 'ada-other.apples.question', 'ada-other', 'user', 'text', NULL, NULL, 'apples', '{"parts": [{"text": "apples", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.539+00', 6944100989441191100, 3, 2, 2, 1, NULL, NULL, 'ada-other.apples.call', 'ada-other', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for apples", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"apples\"}", "toolName": "look", "toolCallId": "apples.1"}], "format": 2}'),
	('2026-11-17 22:34:33.54+00', 8110913462752560996, 3, 4, 1, 1, NULL, NULL, 'ada-other.apples.answer', 'ada-other', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to apples", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.553+00', -3750973863850748987, 4, 5, 1, 1, NULL, NULL, 'ada-fork.four.question', 'ada-fork', 'user', 'text', NULL, NULL, 'four', '{"parts": [{"text": "four", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.554+00', 3883834687665192760, 4, 6, 2, 1, NULL, NULL, 'ada-fork.four.call', 'ada-fork', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for four", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"four\"}", "toolName": "look", "toolCallId": "four.1"}], "format": 2}'),
	('2026-11-17 22:34:33.557+00', -3343470859993229580, 4, 8, 1, 1, NULL, NULL, 'ada-fork.four.answer', 'ada-fork', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to four", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.567+00', 4962918578571502411, 2, 13, 1, NULL, 1, 4, 'ada-long.summary', 'ada-long', 'system', 'text', NULL, NULL, NULL, '{"parts": [{"text": "Summary of ada-long", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.578+00', -5481499047816328008, 2, 14, 1, 4, NULL, NULL, 'ada-long.after.question', 'ada-long', 'user', 'text', NULL, NULL, 'after', '{"parts": [{"text": "after", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.579+00', -3161130984673569274, 2, 15, 2, 4, NULL, NULL, 'ada-long.after.call', 'ada-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for after", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"after\"}", "toolName": "look", "toolCallId": "after.1"}], "format": 2}'),
	('2026-11-17 22:34:33.58+00', 1575985680783358507, 2, 17, 1, 4, NULL, NULL, 'ada-long.after.answer', 'ada-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to after", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.594+00', -1002147501743059001, 3, 5, 1, NULL, 1, 4, 'ada-other.summary', 'ada-other', 'system', 'text', NULL, NULL, NULL, '{"parts": [{"text": "Summary of ada-other", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.601+00', -1007588162265770741, 9, 1, 1, 1, NULL, NULL, 'ada-gone.shared.question', 'ada-gone', 'user', 'text', NULL, NULL, 'shared', '{"parts": [{"text": "shared", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.606+00', -6744595788835560396, 9, 2, 2, 1, NULL, NULL, 'ada-gone.shared.call', 'ada-gone', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for shared", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"shared\"}", "toolName": "look", "toolCallId": "shared.1"}], "format": 2}'),
	('2026-11-17 22:34:33.606+00', -1025414132106112513, 9, 4, 1, 1, NULL, NULL, 'ada-gone.shared.answer', 'ada-gone', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to shared", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.621+00', 8442437628397114009, 11, 1, 1, 1, NULL, NULL, 'ada-reused.shared.question', '~01a1eba5-cb28-702d-92f9-115b6401d07e~ada-reused', 'user', 'text', NULL, NULL, 'shared', '{"parts": [{"text": "shared", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.624+00', -661542962276153996, 11, 2, 2, 1, NULL, NULL, 'ada-reused.shared.call', '~01a1eba5-cb28-702d-92f9-115b6401d07e~ada-reused', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for shared", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"shared\"}", "toolName": "look", "toolCallId": "shared.1"}], "format": 2}'),
	('2026-11-17 22:34:33.624+00', 8712884689989454830, 11, 4, 1, 1, NULL, NULL, 'ada-reused.shared.answer', '~01a1eba5-cb28-702d-92f9-115b6401d07e~ada-reused', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to shared", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.638+00', -3812960556425688428, 13, 1, 1, 1, NULL, NULL, 'ada-reused.again.question', 'ada-reused', 'user', 'text', NULL, NULL, 'again', '{"parts": [{"text": "again", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.644+00', 2302083207943636472, 13, 2, 2, 1, NULL, NULL, 'ada-reused.again.call', 'ada-reused', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for again", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"again\"}", "toolName": "look", "toolCallId": "again.1"}], "format": 2}'),
	('2026-11-17 22:34:33.645+00', -8014940723190604784, 13, 4, 1, 1, NULL, NULL, 'ada-reused.again.answer', 'ada-reused', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to again", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.664+00', 8209590371438559777, 15, 1, 1, 1, NULL, NULL, 'ada-busy.before.question', 'ada-busy', 'user', 'text', NULL, NULL, 'before', '{"parts": [{"text": "before", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.666+00', -1482970278695652109, 15, 2, 2, 1, NULL, NULL, 'ada-busy.before.call', 'ada-busy', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for before", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"before\"}", "toolName": "look", "toolCallId": "before.1"}], "format": 2}'),
	('2026-11-17 22:34:33.666+00', 5559472311111931271, 15, 4, 1, 1, NULL, NULL, 'ada-busy.before.answer', 'ada-busy', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to before", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.667+00', 2965198564459947041, 15, 5, 1, 2, NULL, NULL, 'ada-busy.running.question', 'ada-busy', 'user', 'text', NULL, NULL, 'running', '{"parts": [{"text": "running", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.667+00', -5273324350054801015, 15, 6, 1, 2, NULL, NULL, 'ada-busy.step', 'ada-busy', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "First step", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.681+00', 3802793962245031039, 1, 1, 1, NULL, NULL, NULL, 'ada-outside', 'ada-settings', 'system', 'text', NULL, NULL, NULL, '{"parts": [{"text": "Outside of turns", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.686+00', 7648978270023196062, 17, 1, 1, 1, NULL, NULL, 'grace-long.one.question', 'grace-long', 'user', 'text', NULL, NULL, 'one', '{"parts": [{"text": "one", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.687+00', 8046682562612294683, 17, 2, 2, 1, NULL, NULL, 'grace-long.one.call', 'grace-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for one", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"one\"}", "toolName": "look", "toolCallId": "one.1"}], "format": 2}'),
	('2026-11-17 22:34:33.688+00', -1013423964180798411, 17, 4, 1, 1, NULL, NULL, 'grace-long.one.answer', 'grace-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to one", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.688+00', 2344022978294591628, 17, 5, 1, 2, NULL, NULL, 'grace-long.two.question', 'grace-long', 'user', 'text', NULL, NULL, 'two', '{"parts": [{"text": "two", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.689+00', -1472436882276390568, 17, 6, 2, 2, NULL, NULL, 'grace-long.two.call', 'grace-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for two", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"two\"}", "toolName": "look", "toolCallId": "two.1"}], "format": 2}'),
	('2026-11-17 22:34:33.689+00', -5923749063448541737, 17, 8, 1, 2, NULL, NULL, 'grace-long.two.answer', 'grace-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to two", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.69+00', -2105488095655074902, 17, 9, 1, 3, NULL, NULL, 'grace-long.three.question', 'grace-long', 'user', 'text', NULL, NULL, 'three', '{"parts": [{"text": "three", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.69+00', -1212518828114210088, 17, 10, 2, 3, NULL, NULL, 'grace-long.three.call', 'grace-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for three", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"three\"}", "toolName": "look", "toolCallId": "three.1"}], "format": 2}'),
	('2026-11-17 22:34:33.691+00', -3275396369108837331, 17, 12, 1, 3, NULL, NULL, 'grace-long.three.answer', 'grace-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to three", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.694+00', -83002445920311167, 18, 1, 1, 1, NULL, NULL, 'grace-other.apples.question', 'grace-other', 'user', 'text', NULL, NULL, 'apples', '{"parts": [{"text": "apples", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.698+00', -8478834431410866381, 18, 2, 2, 1, NULL, NULL, 'grace-other.apples.call', 'grace-other', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for apples", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"apples\"}", "toolName": "look", "toolCallId": "apples.1"}], "format": 2}'),
	('2026-11-17 22:34:33.698+00', 1868135662259898662, 18, 4, 1, 1, NULL, NULL, 'grace-other.apples.answer', 'grace-other', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to apples", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.703+00', -3456791377405910326, 19, 5, 1, 1, NULL, NULL, 'grace-fork.four.question', 'grace-fork', 'user', 'text', NULL, NULL, 'four', '{"parts": [{"text": "four", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.703+00', 4011229621078870309, 19, 6, 2, 1, NULL, NULL, 'grace-fork.four.call', 'grace-fork', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for four", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"four\"}", "toolName": "look", "toolCallId": "four.1"}], "format": 2}'),
	('2026-11-17 22:34:33.704+00', 4495082921475666084, 19, 8, 1, 1, NULL, NULL, 'grace-fork.four.answer', 'grace-fork', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to four", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.71+00', 591894016974046411, 17, 13, 1, NULL, 1, 4, 'grace-long.summary', 'grace-long', 'system', 'text', NULL, NULL, NULL, '{"parts": [{"text": "Summary of grace-long", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.72+00', -8858060541440121449, 17, 14, 1, 4, NULL, NULL, 'grace-long.after.question', 'grace-long', 'user', 'text', NULL, NULL, 'after', '{"parts": [{"text": "after", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.723+00', 5654489906531062946, 17, 15, 2, 4, NULL, NULL, 'grace-long.after.call', 'grace-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for after", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"after\"}", "toolName": "look", "toolCallId": "after.1"}], "format": 2}'),
	('2026-11-17 22:34:33.723+00', 2063210174395911088, 17, 17, 1, 4, NULL, NULL, 'grace-long.after.answer', 'grace-long', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to after", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.733+00', 428664303515008082, 18, 5, 1, NULL, 1, 4, 'grace-other.summary', 'grace-other', 'system', 'text', NULL, NULL, NULL, '{"parts": [{"text": "Summary of grace-other", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.758+00', -835247745222510989, 24, 1, 1, 1, NULL, NULL, 'grace-gone.shared.question', 'grace-gone', 'user', 'text', NULL, NULL, 'shared', '{"parts": [{"text": "shared", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.769+00', 2095649778701367788, 24, 2, 2, 1, NULL, NULL, 'grace-gone.shared.call', 'grace-gone', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for shared", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"shared\"}", "toolName": "look", "toolCallId": "shared.1"}], "format": 2}'),
	('2026-11-17 22:34:33.77+00', 8331904078886861596, 24, 4, 1, 1, NULL, NULL, 'grace-gone.shared.answer', 'grace-gone', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to shared", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.794+00', 8135681739741006243, 26, 1, 1, 1, NULL, NULL, 'grace-reused.shared.question', '~01a1eba5-cbd6-7243-a4ee-42ad2cc15d20~grace-reused', 'user', 'text', NULL, NULL, 'shared', '{"parts": [{"text": "shared", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.796+00', 3585814152251616810, 26, 2, 2, 1, NULL, NULL, 'grace-reused.shared.call', '~01a1eba5-cbd6-7243-a4ee-42ad2cc15d20~grace-reused', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for shared", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"shared\"}", "toolName": "look", "toolCallId": "shared.1"}], "format": 2}'),
	('2026-11-17 22:34:33.797+00', -2314909194555221779, 26, 4, 1, 1, NULL, NULL, 'grace-reused.shared.answer', '~01a1eba5-cbd6-7243-a4ee-42ad2cc15d20~grace-reused', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to shared", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.812+00', -2316077208627954626, 28, 1, 1, 1, NULL, NULL, 'grace-reused.again.question', 'grace-reused', 'user', 'text', NULL, NULL, 'again', '{"parts": [{"text": "again", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.816+00', 4857389175041546654, 28, 2, 2, 1, NULL, NULL, 'grace-reused.again.call', 'grace-reused', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for again", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"again\"}", "toolName": "look", "toolCallId": "again.1"}], "format": 2}'),
	('2026-11-17 22:34:33.816+00', 1252526755302660927, 28, 4, 1, 1, NULL, NULL, 'grace-reused.again.answer', 'grace-reused', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to again", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.829+00', 3047063646498891164, 30, 1, 1, 1, NULL, NULL, 'grace-busy.before.question', 'grace-busy', 'user', 'text', NULL, NULL, 'before', '{"parts": [{"text": "before", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.831+00', 797109133821431828, 30, 2, 2, 1, NULL, NULL, 'grace-busy.before.call', 'grace-busy', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "Looking for before", "type": "text"}, {"type": "tool-invocation", "state": "call", "argsText": "{\"q\":\"before\"}", "toolName": "look", "toolCallId": "before.1"}], "format": 2}'),
	('2026-11-17 22:34:33.831+00', 3884375741799699620, 30, 4, 1, 1, NULL, NULL, 'grace-busy.before.answer', 'grace-busy', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "The answer to before", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.832+00', 5963149229924629173, 30, 5, 1, 2, NULL, NULL, 'grace-busy.running.question', 'grace-busy', 'user', 'text', NULL, NULL, 'running', '{"parts": [{"text": "running", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.832+00', -7035512143667186715, 30, 6, 1, 2, NULL, NULL, 'grace-busy.step', 'grace-busy', 'assistant', 'text', '+.0', NULL, NULL, '{"parts": [{"text": "First step", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.842+00', -7770196754628952854, 16, 1, 1, NULL, NULL, NULL, 'grace-outside', 'grace-settings', 'system', 'text', NULL, NULL, NULL, '{"parts": [{"text": "Outside of turns", "type": "text"}], "format": 2}'),
	('2026-11-17 22:34:33.846+00', 2373789538505633788, 31, 1, 1, NULL, NULL, NULL, 'ada-compacting.m', 'ada-compacting', 'user', 'text', NULL, NULL, NULL, '{"parts": [{"text": "Old", "type": "text"}], "format": 2}');

INSERT INTO public.conversation_notice VALUES
	('ada', 20, 'compacted', '{"conversationId":"ada-long","newConversationId":"ada-long-archive","messagesSummarized":3,"messagesKept":1}', '2026-11-17 22:34:33.575+00'),
	('ada', 28, 'compacted', '{"conversationId":"ada-other","newConversationId":"ada-other-archive","messagesSummarized":3,"messagesKept":1}', '2026-11-17 22:34:33.597+00'),
	('ada', 37, 'removed', '{"conversationIds":["ada-gone"]}', '2026-11-17 22:34:33.619+00'),
	('ada', 44, 'removed', '{"conversationIds":["ada-reused"]}', '2026-11-17 22:34:33.633+00'),
	('grace', 77, 'compacted', '{"conversationId":"grace-long","newConversationId":"grace-long-archive","messagesSummarized":3,"messagesKept":1}', '2026-11-17 22:34:33.718+00'),
	('grace', 85, 'compacted', '{"conversationId":"grace-other","newConversationId":"grace-other-archive","messagesSummarized":3,"messagesKept":1}', '2026-11-17 22:34:33.744+00'),
	('grace', 94, 'removed', '{"conversationIds":["grace-gone"]}', '2026-11-17 22:34:33.787+00'),
	('grace', 101, 'removed', '{"conversationIds":["grace-reused"]}', '2026-11-17 22:34:33.809+00');

INSERT INTO public.conversation_turn VALUES
	('2026-11-17 22:34:33.689+00', '2026-11-17 22:34:33.69+00', 17, 2, 5, 8, 2, 'grace-long.two.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"grace-long.two.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.521+00', '2026-11-17 22:34:33.529+00', 2, 1, 1, 4, 1, 'ada-long.one.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"ada-long.one.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.53+00', '2026-11-17 22:34:33.531+00', 2, 2, 5, 8, 2, 'ada-long.two.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"ada-long.two.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.532+00', '2026-11-17 22:34:33.534+00', 2, 3, 9, 12, 3, 'ada-long.three.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"ada-long.three.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.69+00', '2026-11-17 22:34:33.694+00', 17, 3, 9, 12, 3, 'grace-long.three.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"grace-long.three.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.538+00', '2026-11-17 22:34:33.541+00', 3, 1, 1, 4, 1, 'ada-other.apples.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"ada-other.apples.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.554+00', '2026-11-17 22:34:33.557+00', 4, 1, 5, 8, 1, 'ada-fork.four.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"ada-fork.four.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.579+00', '2026-11-17 22:34:33.585+00', 2, 4, 14, 17, 5, 'ada-long.after.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"ada-long.after.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.697+00', '2026-11-17 22:34:33.699+00', 18, 1, 1, 4, 1, 'grace-other.apples.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"grace-other.apples.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.603+00', '2026-11-17 22:34:33.607+00', 9, 1, 1, 4, 1, 'ada-gone.shared.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"ada-gone.shared.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.815+00', '2026-11-17 22:34:33.817+00', 28, 1, 1, 4, 1, 'grace-reused.again.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"grace-reused.again.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.623+00', '2026-11-17 22:34:33.625+00', 11, 1, 1, 4, 1, 'ada-reused.shared.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"ada-reused.shared.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.703+00', '2026-11-17 22:34:33.704+00', 19, 1, 5, 8, 1, 'grace-fork.four.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"grace-fork.four.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.643+00', '2026-11-17 22:34:33.646+00', 13, 1, 1, 4, 1, 'ada-reused.again.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"ada-reused.again.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.665+00', '2026-11-17 22:34:33.667+00', 15, 1, 1, 4, 1, 'ada-busy.before.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"ada-busy.before.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.667+00', NULL, 15, 2, 5, 6, NULL, 'ada-busy.running.turn', 'running', NULL, 'demo/one', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('2026-11-17 22:34:33.722+00', '2026-11-17 22:34:33.723+00', 17, 4, 14, 17, 5, 'grace-long.after.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"grace-long.after.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.687+00', '2026-11-17 22:34:33.688+00', 17, 1, 1, 4, 1, 'grace-long.one.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"grace-long.one.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.83+00', '2026-11-17 22:34:33.832+00', 30, 1, 1, 4, 1, 'grace-busy.before.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"grace-busy.before.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.762+00', '2026-11-17 22:34:33.77+00', 24, 1, 1, 4, 1, 'grace-gone.shared.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"grace-gone.shared.p","createdAt":1700000000000}]', NULL),
	('2026-11-17 22:34:33.832+00', NULL, 30, 2, 5, 6, NULL, 'grace-busy.running.turn', 'running', NULL, 'demo/one', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('2026-11-17 22:34:33.796+00', '2026-11-17 22:34:33.797+00', 26, 1, 1, 4, 1, 'grace-reused.shared.turn', 'sealed', 'stop', 'demo/one', NULL, NULL, NULL, NULL, '[0,[10,4],null,14,[],null,"demo/one"]', '[{"id":"grace-reused.shared.p","createdAt":1700000000000}]', NULL);

INSERT INTO public.login VALUES
	('ada-login', 'ada-key', 'ada', 'ada-login-hash', '2025-11-13 02:13:19+00', '2025-11-13 02:13:19.5+00', '2025-11-13 02:30:00+00'),
	('grace-login', 'grace-key', 'grace', 'grace-login-hash', '2025-11-13 02:13:19+00', '2025-11-13 02:13:19.5+00', '2025-11-13 02:30:00+00');

INSERT INTO public.queued_message VALUES
	('ada-busy', 'ada-busy.steer', 1, 'steer', 'demo/two', NULL, NULL, 'user', 'text', '{"parts": [{"text": "Waiting to steer", "type": "text"}], "format": 2}', '2026-11-17 22:34:33.669+00', NULL, 1, '2026-11-17 22:34:33.67+00'),
	('ada-busy', 'ada-busy.queue', 2, 'queue', 'demo/two', NULL, NULL, 'user', 'text', '{"parts": [{"text": "Waiting to queue", "type": "text"}], "format": 2}', '2026-11-17 22:34:33.671+00', NULL, 1, '2026-11-17 22:34:33.673+00'),
	('grace-busy', 'grace-busy.steer', 1, 'steer', 'demo/two', NULL, NULL, 'user', 'text', '{"parts": [{"text": "Waiting to steer", "type": "text"}], "format": 2}', '2026-11-17 22:34:33.833+00', NULL, 1, '2026-11-17 22:34:33.837+00'),
	('grace-busy', 'grace-busy.queue', 2, 'queue', 'demo/two', NULL, NULL, 'user', 'text', '{"parts": [{"text": "Waiting to queue", "type": "text"}], "format": 2}', '2026-11-17 22:34:33.837+00', NULL, 1, '2026-11-17 22:34:33.839+00');

INSERT INTO public.receipt VALUES
	('ada-busy', 'ada-busy.steer', 'steer', 'queued', NULL),
	('ada-busy', 'ada-busy.queue', 'queue', 'queued', NULL),
	('grace-busy', 'grace-busy.steer', 'steer', 'queued', NULL),
	('grace-busy', 'grace-busy.queue', 'queue', 'queued', NULL);

INSERT INTO public.schema_migration VALUES
	(0, '0000_functions', '2026-11-17 22:34:33.266493+00'),
	(1, '0001_tables', '2026-11-17 22:34:33.266493+00'),
	(2, '0002_storage', '2026-11-17 22:34:33.266493+00'),
	(3, '0003_notices', '2026-11-17 22:34:33.266493+00'),
	(4, '0004_narrow_rows', '2026-11-17 22:34:33.266493+00'),
	(5, '0005_last_model', '2026-11-17 22:34:33.266493+00'),
	(6, '0006_logins', '2026-11-17 22:34:33.266493+00'),
	(7, '0007_search', '2026-11-17 22:34:33.266493+00');

INSERT INTO public.search_entry VALUES
	(1794954873508, 1, 1, 0, '''1:here'' ''1:settings'''),
	(1794954873548, 1, 4, 0, '''1:one'''),
	(1794954873559, 1, 5, 0, '''1:deeper'''),
	(1794954873520, 1, 2, 0, '''1:one'''),
	(1794954873586, 1, 7, 0, '''1:one'''),
	(1794954873537, 1, 3, 0, '''1:apples'''),
	(1794954873610, 1, 10, 0, '''1:shared'''),
	(1794954873630, 1, 12, 0, '''1:shared'''),
	(1794954873641, 1, 13, 0, '''1:again'''),
	(1794954873648, 1, 14, 0, '''1:again'''),
	(1794954873553, 1, 4, 5, '''1:four'''),
	(1794954873554, 1, 4, 6, '''1:for'' ''1:four'' ''1:looking'''),
	(1794954873557, 1, 4, 8, '''1:answer'' ''1:four'' ''1:the'' ''1:to'''),
	(1794954873515, 1, 2, 1, '''1:one'''),
	(1794954873523, 1, 2, 2, '''1:for'' ''1:looking'' ''1:one'''),
	(1794954873526, 1, 2, 4, '''1:answer'' ''1:one'' ''1:the'' ''1:to'''),
	(1794954873529, 1, 2, 5, '''1:two'''),
	(1794954873530, 1, 2, 6, '''1:for'' ''1:looking'' ''1:two'''),
	(1794954873531, 1, 2, 8, '''1:answer'' ''1:the'' ''1:to'' ''1:two'''),
	(1794954873532, 1, 2, 9, '''1:three'''),
	(1794954873532, 1, 2, 10, '''1:for'' ''1:looking'' ''1:three'''),
	(1794954873533, 1, 2, 12, '''1:answer'' ''1:the'' ''1:three'' ''1:to'''),
	(1794954873567, 1, 2, 13, '''1:ada'' ''1:long'' ''1:of'' ''1:summary'''),
	(1794954873578, 1, 2, 14, '''1:after'''),
	(1794954873579, 1, 2, 15, '''1:after'' ''1:for'' ''1:looking'''),
	(1794954873580, 1, 2, 17, '''1:after'' ''1:answer'' ''1:the'' ''1:to'''),
	(1794954873534, 1, 3, 1, '''1:apples'''),
	(1794954873539, 1, 3, 2, '''1:apples'' ''1:for'' ''1:looking'''),
	(1794954873540, 1, 3, 4, '''1:answer'' ''1:apples'' ''1:the'' ''1:to'''),
	(1794954873594, 1, 3, 5, '''1:ada'' ''1:of'' ''1:other'' ''1:summary'''),
	(1794954873601, 1, 9, 1, '''1:shared'''),
	(1794954873606, 1, 9, 2, '''1:for'' ''1:looking'' ''1:shared'''),
	(1794954873606, 1, 9, 4, '''1:answer'' ''1:shared'' ''1:the'' ''1:to'''),
	(1794954873621, 1, 11, 1, '''1:shared'''),
	(1794954873624, 1, 11, 2, '''1:for'' ''1:looking'' ''1:shared'''),
	(1794954873624, 1, 11, 4, '''1:answer'' ''1:shared'' ''1:the'' ''1:to'''),
	(1794954873638, 1, 13, 1, '''1:again'''),
	(1794954873644, 1, 13, 2, '''1:again'' ''1:for'' ''1:looking'''),
	(1794954873645, 1, 13, 4, '''1:again'' ''1:answer'' ''1:the'' ''1:to'''),
	(1794954873685, 2, 16, 0, '''2:here'' ''2:settings'''),
	(1794954873700, 2, 19, 0, '''2:one'''),
	(1794954873706, 2, 20, 0, '''2:deeper'''),
	(1794954873686, 2, 17, 0, '''2:one'''),
	(1794954873726, 2, 22, 0, '''2:one'''),
	(1794954873696, 2, 18, 0, '''2:apples'''),
	(1794954873778, 2, 25, 0, '''2:shared'''),
	(1794954873804, 2, 27, 0, '''2:shared'''),
	(1794954873815, 2, 28, 0, '''2:again'''),
	(1794954873819, 2, 29, 0, '''2:again'''),
	(1794954873703, 2, 19, 5, '''2:four'''),
	(1794954873703, 2, 19, 6, '''2:for'' ''2:four'' ''2:looking'''),
	(1794954873704, 2, 19, 8, '''2:answer'' ''2:four'' ''2:the'' ''2:to'''),
	(1794954873686, 2, 17, 1, '''2:one'''),
	(1794954873687, 2, 17, 2, '''2:for'' ''2:looking'' ''2:one'''),
	(1794954873688, 2, 17, 4, '''2:answer'' ''2:one'' ''2:the'' ''2:to'''),
	(1794954873688, 2, 17, 5, '''2:two'''),
	(1794954873689, 2, 17, 6, '''2:for'' ''2:looking'' ''2:two'''),
	(1794954873689, 2, 17, 8, '''2:answer'' ''2:the'' ''2:to'' ''2:two'''),
	(1794954873690, 2, 17, 9, '''2:three'''),
	(1794954873690, 2, 17, 10, '''2:for'' ''2:looking'' ''2:three'''),
	(1794954873691, 2, 17, 12, '''2:answer'' ''2:the'' ''2:three'' ''2:to'''),
	(1794954873710, 2, 17, 13, '''2:grace'' ''2:long'' ''2:of'' ''2:summary'''),
	(1794954873720, 2, 17, 14, '''2:after'''),
	(1794954873723, 2, 17, 15, '''2:after'' ''2:for'' ''2:looking'''),
	(1794954873723, 2, 17, 17, '''2:after'' ''2:answer'' ''2:the'' ''2:to'''),
	(1794954873694, 2, 18, 1, '''2:apples'''),
	(1794954873698, 2, 18, 2, '''2:apples'' ''2:for'' ''2:looking'''),
	(1794954873698, 2, 18, 4, '''2:answer'' ''2:apples'' ''2:the'' ''2:to'''),
	(1794954873733, 2, 18, 5, '''2:grace'' ''2:of'' ''2:other'' ''2:summary'''),
	(1794954873758, 2, 24, 1, '''2:shared'''),
	(1794954873769, 2, 24, 2, '''2:for'' ''2:looking'' ''2:shared'''),
	(1794954873770, 2, 24, 4, '''2:answer'' ''2:shared'' ''2:the'' ''2:to'''),
	(1794954873794, 2, 26, 1, '''2:shared'''),
	(1794954873796, 2, 26, 2, '''2:for'' ''2:looking'' ''2:shared'''),
	(1794954873797, 2, 26, 4, '''2:answer'' ''2:shared'' ''2:the'' ''2:to'''),
	(1794954873812, 2, 28, 1, '''2:again'''),
	(1794954873816, 2, 28, 2, '''2:again'' ''2:for'' ''2:looking'''),
	(1794954873816, 2, 28, 4, '''2:again'' ''2:answer'' ''2:the'' ''2:to''');

INSERT INTO public.search_owner OVERRIDING SYSTEM VALUE VALUES
	(1, 'ada', 48, '{}'),
	(2, 'grace', 105, '{}');

INSERT INTO public.turn_journal VALUES
	('ada-busy', 'ada-busy.running.turn', 3, 2, 2, 'events from 3'),
	('ada-busy', 'ada-busy.running.turn', 5, 2, 2, 'events from 5'),
	('grace-busy', 'grace-busy.running.turn', 3, 2, 2, 'events from 3'),
	('grace-busy', 'grace-busy.running.turn', 5, 2, 2, 'events from 5');

SELECT pg_catalog.setval('public.conversation_change', 118, true);

SELECT pg_catalog.setval('public.conversation_log_seq', 31, true);

SELECT pg_catalog.setval('public.search_owner_number_seq', 2, true);

ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.compaction
    ADD CONSTRAINT compaction_entry PRIMARY KEY (conversation_id, seq, kind);

ALTER TABLE ONLY public.conversation_head
    ADD CONSTRAINT conversation_head_pkey PRIMARY KEY (conversation_id);

ALTER TABLE ONLY public.conversation_message
    ADD CONSTRAINT conversation_message_place PRIMARY KEY (log, first_seq);

ALTER TABLE ONLY public.conversation_notice
    ADD CONSTRAINT conversation_notice_change PRIMARY KEY (owner, changed_at);

ALTER TABLE ONLY public.conversation
    ADD CONSTRAINT conversation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.conversation_turn
    ADD CONSTRAINT conversation_turn_order PRIMARY KEY (log, ordinal);

ALTER TABLE ONLY public.login
    ADD CONSTRAINT login_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.queued_message
    ADD CONSTRAINT queued_message_id PRIMARY KEY (conversation_id, id);

ALTER TABLE ONLY public.receipt
    ADD CONSTRAINT receipt_message PRIMARY KEY (conversation_id, message_id);

ALTER TABLE ONLY public.schema_migration
    ADD CONSTRAINT schema_migration_pkey PRIMARY KEY (place);

ALTER TABLE ONLY public.search_entry
    ADD CONSTRAINT search_entry_place PRIMARY KEY (log, first_seq);

ALTER TABLE ONLY public.search_owner
    ADD CONSTRAINT search_owner_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.turn_journal
    ADD CONSTRAINT turn_journal_place PRIMARY KEY (conversation_id, turn_id, first_n);

CREATE UNIQUE INDEX api_key_hash ON public.api_key USING btree (hash);

CREATE INDEX conversation_activity ON public.conversation USING btree (owner, last_activity_at);

CREATE UNIQUE INDEX conversation_changes ON public.conversation USING btree (owner, changed_at);

CREATE INDEX conversation_children ON public.conversation USING btree (parent_id) WHERE (parent_id IS NOT NULL);

CREATE INDEX conversation_head_compacting ON public.conversation_head USING btree (conversation_id) WHERE (compaction_id IS NOT NULL);

CREATE UNIQUE INDEX conversation_head_log ON public.conversation_head USING btree (log);

CREATE INDEX conversation_head_stopping ON public.conversation_head USING btree (conversation_id) WHERE (stop_requested_at IS NOT NULL);

CREATE INDEX conversation_message_id ON public.conversation_message USING btree (id_key);

CREATE INDEX conversation_turn_id ON public.conversation_turn USING btree (hashtextextended(id, (0)::bigint));

CREATE INDEX conversation_turn_running ON public.conversation_turn USING btree (started_at) WHERE (status = 'running'::text);

CREATE INDEX login_expiry ON public.login USING btree (expires_at);

CREATE UNIQUE INDEX login_hash ON public.login USING btree (hash);

CREATE INDEX login_key ON public.login USING btree (key_id);

CREATE INDEX search_entry_newest ON public.search_entry USING btree (owner, created_ms, first_seq, log);

CREATE INDEX search_entry_words ON public.search_entry USING gin (words) WITH (gin_pending_list_limit='1024');

CREATE UNIQUE INDEX search_owner_name ON public.search_owner USING btree (owner);

ALTER TABLE ONLY public.login
    ADD CONSTRAINT login_key_id_api_key_id_fk FOREIGN KEY (key_id) REFERENCES public.api_key(id) ON DELETE CASCADE;

