-- Accounts that were never charged for anything. They cost nothing, and each keeps keys, favourites and wallets.
INSERT INTO totals (name, value) SELECT 'free_accounts', COUNT(*) FROM accounts WHERE has_paid = 0;
