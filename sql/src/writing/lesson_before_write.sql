-- Derives what a lesson is found by. A restored dump brings its text_config along, so that its lexemes come out as
-- they were; where that configuration is no longer there, or no longer takes the text, the dumped ones stay: nothing
-- that one tenant did to a configuration must keep the others' lessons from being loaded.
CREATE FUNCTION pgmnemo._lesson_before_write()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    config regconfig;
BEGIN
    IF TG_OP = 'UPDATE' OR NEW.text_config IS NULL THEN
        config := pgmnemo._text_config();
        NEW.text_config := config;
    ELSE
        config := pgmnemo._config(NEW.text_config);
        IF config IS NULL THEN
            RETURN NEW;
        END IF;
        NEW.text_config := config;
        BEGIN
            NEW.lexemes := pgmnemo._lexemes(config, concat_ws(E'\n', NEW.topic, NEW.content));
            NEW.token_count := pgmnemo._positions(NEW.lexemes);
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'lesson % keeps its lexemes, for text search configuration % refuses its text: %',
                  quote_literal(left(NEW.external_id, 100)), NEW.text_config, SQLERRM;
        END;
        RETURN NEW;
    END IF;
    NEW.lexemes := pgmnemo._lexemes(config, concat_ws(E'\n', NEW.topic, NEW.content));
    NEW.token_count := pgmnemo._positions(NEW.lexemes);
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
-- Also for who loads with session_replication_role = replica. Not what changes: of that logical replication brings the
-- lexemes along, cut by a setting that is not known here.
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_before_insert;
