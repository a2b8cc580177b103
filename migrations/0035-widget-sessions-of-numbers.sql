-- Sessions are limited by network and widget. A limit by number let strangers lock a number out without sending a code.
drop index widget_sessions_by_number;
