// One PostgreSQL server for a test program: in a temporary folder, reached through a socket there, gone with the
// program.
#pragma once

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

namespace strop::fakes {

class PostgresServer {
public:
    // Null where the server's programs are absent.
    static PostgresServer* instance() {
        static const std::unique_ptr<PostgresServer> server = start();
        return server.get();
    }

    ~PostgresServer() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGQUIT);
        ::waitpid(pid_, nullptr, 0);
    }

    // The address of a schema that nobody used.
    std::string fresh() {
        const std::string schema = fmt::format("s{}", ++schemas_);
        sql("CREATE SCHEMA " + schema);
        return address("strop", schema);
    }

    std::string address(const std::string& user, const std::string& schema) const {
        return fmt::format("postgresql://{}@/postgres?host={}&options=-csearch_path%3D{}", user,
                           folder_.path().string(), schema);
    }

    // As the owner, through a connection of its own; the first value of the result.
    std::string sql(const std::string& statements) const { return sql(address("strop", "public"), statements); }
    static std::string sql(const std::string& address, const std::string& statements) {
        const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(address.c_str()), PQfinish);
        const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection.get(), statements.c_str()),
                                                                    PQclear);
        const ExecStatusType status = PQresultStatus(result.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            throw std::runtime_error(PQerrorMessage(connection.get()));
        return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
    }

    void stop() {
        ::kill(pid_, SIGQUIT);
        ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    }

    // Returns when it answers.
    bool start_again() {
        const std::string place = folder_.path().string();
        pid_ = launch({programs_ / "postgres", "-D", place + "/data", "-k", place, "-c", "listen_addresses=", "-c",
                       "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=40"});
        for (int i = 0; i < 400 && PQping(address("strop", "public").c_str()) != PQPING_OK; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return PQping(address("strop", "public").c_str()) == PQPING_OK;
    }

private:
    explicit PostgresServer(fs::path programs) : programs_(std::move(programs)) {}

    static std::unique_ptr<PostgresServer> start() {
        fs::path programs;
        std::error_code failed;
        for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib/postgresql", failed))
            if (fs::exists(entry.path() / "bin/initdb", failed)) programs = std::max(programs, entry.path() / "bin");
        if (programs.empty()) return nullptr;
        std::unique_ptr<PostgresServer> server(new PostgresServer(programs));
        const std::string place = server->folder_.path().string();
        if (const passwd* user = server->user(); user && ::chown(place.c_str(), user->pw_uid, user->pw_gid) != 0)
            return nullptr;
        const pid_t child = server->launch({programs / "initdb", "-D", place + "/data", "-U", "strop", "-A", "trust",
                                            "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"});
        int status = 0;
        ::waitpid(child, &status, 0);
        if (status != 0 || !server->start_again()) return nullptr;
        return server;
    }

    // Root may not run it.
    static const passwd* user() {
        if (::geteuid() != 0) return nullptr;
        const passwd* postgres = ::getpwnam("postgres");
        return postgres ? postgres : ::getpwnam("nobody");
    }

    // It says nothing, and ends with us.
    static pid_t launch(const std::vector<std::string>& words) {
        std::vector<char*> argv;
        for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        const passwd* user = PostgresServer::user();
        const pid_t child = ::fork();
        if (child != 0) return child;
        if (user && (::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0)) ::_exit(126);
        ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
        if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr) || ::chdir("/") != 0)
            ::_exit(126);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }

    fs::path programs_;
    TemporaryFolder folder_{"strop-postgres"};
    pid_t pid_ = -1;
    int schemas_ = 0;
};

}  // namespace strop::fakes
