-- Derive a lesson's lexemes. A row with lexemes comes from a dump: they are derived again under its text_config; where
-- that configuration is gone, or no longer takes the text, the dumped lexemes stay, because a tenant's change of a
-- configuration must not keep other tenants' lessons from being loaded. Otherwise text_config is the writer's; where
-- its configuration is gone, that of a text without a language.
CREATE FUNCTION pgmnemo._lesson_before_write()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    words constant text := concat_ws(E'\n', NEW.topic, NEW.content);
    config regconfig;
BEGIN
    IF TG_OP = 'INSERT' AND NEW.lexemes <> '' AND NEW.text_config IS NOT NULL THEN
        config := pgmnemo._config(NEW.text_config);
        IF config IS NULL THEN
            RETURN NEW;
        END IF;
        NEW.text_config := config;
        BEGIN
            NEW.lexemes := pgmnemo._lexemes(config, words);
            NEW.token_count := pgmnemo._position_count(NEW.lexemes);
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'lesson % keeps its lexemes, for text search configuration % refuses its text: %',
                  quote_literal(left(NEW.external_id, 100)), NEW.text_config, SQLERRM;
        END;
        RETURN NEW;
    END IF;
    config := coalesce(pgmnemo._config(NEW.text_config),
                       pgmnemo._config_of_text(NULL, words, pgmnemo._tenant_language(NEW.tenant_id)));
    NEW.text_config := config;
    NEW.lexemes := pgmnemo._lexemes(config, words);
    NEW.token_count := pgmnemo._position_count(NEW.lexemes);
    RETURN NEW;
END
$$;

CREATE TRIGGER lesson_before_insert BEFORE INSERT ON pgmnemo.lesson
    FOR EACH ROW EXECUTE FUNCTION pgmnemo._lesson_before_write();
CREATE TRIGGER lesson_before_update BEFORE UPDATE OF topic, content, text_config, lexemes, token_count ON pgmnemo.lesson
    FOR EACH ROW
    WHEN ((OLD.topic, OLD.content, OLD.text_config, OLD.lexemes, OLD.token_count)
          IS DISTINCT FROM (NEW.topic, NEW.content, NEW.text_config, NEW.lexemes, NEW.token_count))
    EXECUTE FUNCTION pgmnemo._lesson_before_write();
-- Also fires under session_replication_role = replica, but not on update: logical replication brings the lexemes along,
-- parsed under a setting that is unknown here.
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_before_insert;
