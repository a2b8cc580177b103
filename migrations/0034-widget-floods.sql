-- Sessions that visitors left stay WAITING: the few that wait now are found by their time.
drop index widget_sessions_waiting;
create index widget_sessions_waiting on widget_sessions (company_id, asked_at) where state = 'WAITING';

-- Each number of an error has its own room in the log: strangers cause some numbers, and must not crowd out the others.
drop index widget_errors_by_widget;
create index widget_errors_by_code on widget_errors (company_id, widget_id, code, created_at);
