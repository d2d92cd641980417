-- Return the roots of forms that the english stemmer does not join, both as its lexemes. A group begins with its root,
-- which is no form of another group. Stop words (be, do, have and their forms) never become lexemes and are not listed.
CREATE FUNCTION pgmnemo._form_roots()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_object_agg(form, w.words[1])
      FROM string_to_table(
        -- irregular verbs
        'aris aros arisen|awak awok awoken|bear bore born|beat beaten|becom becam|begin began begun|bend bent|'
        'bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|'
        'build built|burn burnt|buy bought|catch caught|choos chose chosen|cling clung|come came|creep crept|'
        'deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|'
        'fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fli flew flown|'
        'forbid forbad forbidden|forget forgot forgotten|forgiv forgav forgiven|freez froze frozen|get got gotten|'
        'give gave given|go went gone|grind ground|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|'
        'keep kept|kneel knelt|know knew known|lead led|lean leant|leap leapt|learn learnt|leav left|lend lent|'
        'light lit|lose lost|make made|mean meant|meet met|mistak mistook mistaken|overcom overcam|pay paid|'
        'prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|'
        'sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|'
        'sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent|spill spilt|'
        'spin spun|spoil spoilt|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|'
        'stink stank|strike struck stricken|strive strove|swear swore sworn|sweep swept|swell swollen|'
        'swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|'
        'throw threw thrown|tread trod|understand understood|undergo underw|undertak undertook undertaken|'
        'wake woke woken|wear wore worn|weav wove woven|weep wept|win won|wind wound|withdraw withdrew withdrawn|'
        'write wrote written|'
        -- irregular nouns
        'child children|man men|woman women|person peopl|foot feet|tooth teeth|goos gees|mous mice|wife wive|'
        'life live|knife knive|shelf shelv|half halv|wolf wolv|loaf loav|thief thiev|'
        -- comparatives
        'old older oldest elder eldest|good better best|bad wors worst|big bigger biggest|small smaller smallest|'
        'larg larger largest|high higher highest|low lower lowest|long longer longest|short shorter shortest|'
        'new newer newest|young younger youngest|earli earlier earliest|late later latest|fast faster fastest|'
        'slow slower slowest|easi easier easiest|hard harder hardest|cheap cheaper cheapest|near nearer nearest|'
        'close closer closest|great greater greatest|happi happier happiest|healthi healthier healthiest|'
        'busi busier busiest|warm warmer warmest|cold colder coldest|strong stronger strongest|'
        -- everyday words
        'mother mom mum mommi|father dad daddi|grandmoth grandma granni|grandfath grandpa|child kid|'
        'photo pictur pic photograph|boyfriend bf|girlfriend gf|televis tv|bicycl bike|refriger fridg|vacat vacay|'
        'educ edu|laboratori lab|advertis ad|applic app|doctor doc|veterinarian vet|mathemat math|gymnasium gym|'
        'movi film|'
        -- numbers
        '1 one|2 two|3 three|4 four|5 five|6 six|7 seven|8 eight|9 nine|10 ten|11 eleven|12 twelv', '|') AS g (line)
     CROSS JOIN LATERAL (SELECT string_to_array(g.line, ' ')) AS w (words)
     CROSS JOIN LATERAL unnest(w.words[2:]) AS form
$$;
